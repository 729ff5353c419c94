"""The contract's assertions are shown in full when they fail, though it is no test file itself."""

import pytest

pytest.register_assert_rewrite("store.contract")
