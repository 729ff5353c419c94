"""What a reader looks for in the reports of well-known tools is in a result of 2,000 characters."""

from __future__ import annotations

import json

import pytest

from keyhole import bound

BUDGET = 2_000


def playwright() -> str:
    passed = "".join(
        f"  ✓  {number:3} [chromium] › tests/shop.spec.ts:{number + 9}:7 › shop › page {number} opens ({number}ms)\n"
        for number in range(1, 140)
    )
    call_log = "".join(
        f'      {number} × locator resolved to <output id="total" class="sum">€ 17.00</output>\n'
        '        - unexpected value "€ 17.00"\n'
        for number in (4, 9)
    )
    return (
        f"\nRunning 142 tests using 2 workers\n\n{passed}"
        "  ✘  140 [chromium] › tests/cart.spec.ts:12:7 › cart › adds the voucher (5.3s)\n\n\n"
        "  1) [chromium] › tests/cart.spec.ts:12:7 › cart › adds the voucher ────────────────────────────────\n\n"
        "    Error: expect(locator).toHaveText(expected) failed\n\n"
        "    Locator:  locator('#total')\n"
        '    Expected: "€ 12.00"\n    Received: "€ 17.00"\n    Timeout:  5000ms\n\n'
        "    Call log:\n      - Expect \"toHaveText\" with timeout 5000ms\n      - waiting for locator('#total')\n"
        f"{call_log}\n"
        "      17 |   await page.getByRole('button', { name: 'Apply' }).click();\n"
        "    > 18 |   await expect(page.locator('#total')).toHaveText('€ 12.00');\n"
        "         |                                        ^\n"
        "        at /work/shop/tests/cart.spec.ts:18:40\n\n"
        "    Error Context: test-results/cart-adds-the-voucher-chromium/error-context.md\n\n"
        "  2) [chromium] › tests/cart.spec.ts:30:7 › cart › lists what is in it ──────────────────────────────\n\n"
        "    Error: expect(locator).toMatchAriaSnapshot(expected) failed\n\n"
        "    Locator: getByRole('main')\n    Timeout: 5000ms\n    - Expected  - 1\n    + Received  + 1\n\n"
        "      - list:\n        - listitem: Tea\n    -   - listitem: Voucher of 5\n    +   - listitem: Gift card\n\n"
        "        at /work/shop/tests/cart.spec.ts:33:40\n\n"
        "  2 failed\n    [chromium] › tests/cart.spec.ts:12:7 › cart › adds the voucher ─────────\n"
        "    [chromium] › tests/cart.spec.ts:30:7 › cart › lists what is in it ────────\n"
        "  140 passed (1.2m)\n"
    )


def go_json() -> str:
    def event(action: str, test: str, **more: object) -> str:
        when = "2026-03-04T11:20:51.84Z"
        return json.dumps({"Time": when, "Action": action, "Package": "example.com/tides", "Test": test, **more}) + "\n"

    passed = "".join(
        event("run", f"TestHarbour{n}")
        + event("output", f"TestHarbour{n}", Output=f"--- PASS: TestHarbour{n} (0.00s)\n")
        + event("pass", f"TestHarbour{n}", Elapsed=0)
        for n in range(60)
    )
    failed = (
        event("run", "TestSpring")
        + event("output", "TestSpring", Output="    tides_test.go:41: height at noon: got 3.9, want 4.2\n")
        + event("output", "TestSpring", Output="--- FAIL: TestSpring (0.02s)\n")
        + event("fail", "TestSpring", Elapsed=0.02)
    )
    return passed + failed + passed + event("fail", "", Elapsed=0.4)


def tap() -> str:
    passed = "".join(f"ok {n} - parses the date of line {n}\n" for n in range(1, 240))
    return (
        f"TAP version 13\n1..260\n{passed}"
        "not ok 240 - keeps the zone of an old date\n"
        "  ---\n  operator: equal\n  expected: '+00:34'\n  actual:   '+01:00'\n  at: test/zone.js:88:7\n  ...\n"
        + "".join(f"ok {n} - writes the date of line {n}\n" for n in range(241, 261))
        + "# tests 260\n# pass  259\n# fail  1\n"
    )


def sarif() -> str:
    def result(rule: str, level: str, message: str, uri: str, line: int) -> dict[str, object]:
        place = {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}}
        return {"ruleId": rule, "level": level, "message": {"text": message}, "locations": [place]}

    notes = [
        result("py/unused-import", "note", f"Import of 'shape{n}' is not used.", f"src/draw{n}.py", n + 3)
        for n in range(50)
    ]
    error = result("py/sql-injection", "error", "This query depends on a user-provided value.", "src/orders.py", 118)
    rules = [{"id": "py/unused-import"}, {"id": "py/sql-injection"}]
    run = {"tool": {"driver": {"name": "CodeQL", "rules": rules}}, "results": [*notes[:30], error, *notes[30:]]}
    return json.dumps({"version": "2.1.0", "runs": [run]}, indent=2)


def junit() -> str:
    def case(n: int, body: str = "") -> str:
        head = f'  <testcase classname="bank.LedgerTest" name="books{n}" time="0.0{n}"'
        return f"{head}>{body}</testcase>\n" if body else f"{head}/>\n"

    failure = (
        '\n    <failure message="expected: &lt;120.50&gt; but was: &lt;120.49&gt;" '
        'type="org.opentest4j.AssertionFailedError">org.opentest4j.AssertionFailedError: expected\n'
        "\tat bank.LedgerTest.books70(LedgerTest.java:52)\n    </failure>\n  "
    )
    cases = "".join(case(n, failure if n == 70 else "") for n in range(140))
    head = '<testsuite name="bank.LedgerTest" tests="140" skipped="0" failures="1" errors="0" time="1.311">\n'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}{cases}</testsuite>\n'


def coverage() -> str:
    rows = [
        "".join(f"src/shop/part{n:03}.py{20 + n:13}      0   100%\n" for n in half)
        for half in (range(99), range(99, 200))
    ]
    low = "src/shop/refunds.py          84     61    27%   14-40, 52-88\n"
    head = "Name                      Stmts   Miss  Cover   Missing\n" + "-" * 54 + "\n"
    return f"{head}{rows[0]}{low}{rows[1]}{'-' * 54}\nTOTAL                     24000     61    99%\n"


def terraform() -> str:
    refreshed = "".join(f'aws_iam_user.member["u{n}"]: Refreshing state... [id=member-{n}]\n' for n in range(150))
    return (
        f"{refreshed}\nTerraform used the selected providers to generate the following execution plan.\n"
        "Resource actions are indicated with the following symbols:\n  ~ update in-place\n"
        "-/+ destroy and then create replacement\n\nTerraform will perform the following actions:\n\n"
        "  # aws_db_instance.orders must be replaced\n"
        '-/+ resource "aws_db_instance" "orders" {\n'
        '      ~ arn                  = "arn:aws:rds:eu-west-1:1:db:orders" -> (known after apply)\n'
        '      ~ engine_version       = "14.9" -> "16.3"\n'
        "      ~ storage_encrypted    = false -> true # forces replacement\n"
        "        # (41 unchanged attributes hidden)\n    }\n\n"
        "  # aws_security_group.web will be updated in-place\n"
        '  ~ resource "aws_security_group" "web" {\n        id   = "sg-0a1"\n'
        '      ~ name = "web" -> "web-public"\n    }\n\n'
        "Plan: 1 to add, 1 to change, 1 to destroy.\n"
    )


def notebook() -> str:
    def cell(n: int, source: str, output: dict[str, object]) -> dict[str, object]:
        return {"cell_type": "code", "execution_count": n, "metadata": {}, "outputs": [output], "source": [source]}

    image: dict[str, object] = {
        "output_type": "display_data",
        "data": {"image/png": "iVBORw0KGgo" + "Ab9+" * 900},
        "metadata": {},
    }
    cells = [cell(n, f"plot(tides[{n}])", image) for n in range(6)]
    error: dict[str, object] = {
        "output_type": "error",
        "ename": "KeyError",
        "evalue": "'Galway'",
        "traceback": ["KeyError                      Traceback (most recent call last)", "KeyError: 'Galway'"],
    }
    cells.insert(4, cell(5, "tides.loc['Galway'].mean()", error))
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


REPORTS = {
    "playwright": (playwright, "npx playwright test", (
        "cart › adds the voucher", 'Expected: "€ 12.00"', 'Received: "€ 17.00"', "locator('#total')",
        '<output id="total" class="sum">€ 17.00</output>', "cart.spec.ts:18:40",
        "cart › lists what is in it", "-   - listitem: Voucher of 5", "+   - listitem: Gift card", "2 failed",
    )),
    "go": (go_json, "go test -json ./...", ("TestSpring", "tides_test.go:41: height at noon: got 3.9, want 4.2")),
    "tap": (tap, "npx tape test/*.js", (
        "not ok 240 - keeps the zone of an old date", "expected: '+00:34'", "actual:   '+01:00'", "test/zone.js:88",
        "# fail  1",
    )),
    "sarif": (sarif, "cat results.sarif", (
        "py/sql-injection", "This query depends on a user-provided value.", "src/orders.py", "118",
    )),
    "junit": (junit, "cat TEST-bank.LedgerTest.xml", (
        'name="books70"', "expected: &lt;120.50&gt; but was: &lt;120.49&gt;", "LedgerTest.java:52", 'failures="1"',
    )),
    "coverage": (coverage, "coverage report -m", (
        "src/shop/refunds.py", "14-40, 52-88", "TOTAL                     24000     61    99%",
    )),
    "terraform": (terraform, "terraform plan", (
        "# aws_db_instance.orders must be replaced", "storage_encrypted    = false -> true # forces replacement",
        "# aws_security_group.web will be updated in-place", '~ name = "web" -> "web-public"',
        "Plan: 1 to add, 1 to change, 1 to destroy.",
    )),
    "notebook": (notebook, "cat tides.ipynb", ("KeyError", "'Galway'", "tides.loc['Galway'].mean()")),
}  # fmt: skip
"""The text, the command that printed it, and what its reader looks for."""


QUESTIONS = {
    "playwright": "what total did the page show",
    "go": "which test failed",
    "tap": "which test failed and why",
    "sarif": "which findings are errors",
    "junit": "which test failed and why",
    "coverage": "which file has the lowest coverage",
    "terraform": "what will be replaced and why",
    "notebook": "which cell failed",
}


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("is_named", [True, False])
def test_a_report_shows_what_its_reader_looks_for(name: str, asks: bool, is_named: bool) -> None:
    make, command, signals = REPORTS[name]
    text = make()
    assert len(text) > 4 * BUDGET
    query = QUESTIONS[name] if asks else None
    shown = bound(text, command=command if is_named else "", query=query, budget=BUDGET).text
    assert len(shown) <= BUDGET
    assert [signal for signal in signals if signal not in shown] == []
