"""The caller of a task, fair shares of a limited resource, and deferred imports: what any part of a process may use."""
