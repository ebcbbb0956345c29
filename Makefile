# The targets a contributor needs. `make test` is what continuous integration runs.

CARGO ?= cargo
PYTHON ?= python3

.PHONY: test test-long bench pictures

# Formatting, lints, documentation, and every test that takes seconds.
test: .venv/requirements.txt
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet
	$(CARGO) test --workspace
	$(CARGO) test --quiet --package leastaction-compile --test fuzz -- --nocapture
	$(CARGO) build --quiet --profile test
	.venv/bin/python -m unittest discover --start-directory tests/python

# The Python environment in which files are read back by other readers, and the command is run in a pseudo-terminal. It is made anew when
# what it should hold changes.
.venv/requirements.txt: tests/python/requirements.txt
	tools/python-environment.sh $(PYTHON) $< .venv

# The same sweeps over millions of points and programs; takes a while.
test-long:
	$(CARGO) test --release --workspace -- --include-ignored --nocapture

# Generated code against code written by hand, and how long chains scale, as Markdown tables.
bench:
	$(CARGO) bench --package leastaction-compile --bench pendulum
	$(CARGO) bench --package leastaction-mechanics --bench equations
	$(CARGO) bench --package leastaction-integrate --bench chain

# The pictures of the README and the book.
pictures:
	$(CARGO) build --release --quiet
	target/release/leastaction run book/models/atwood.motion --plot book/src/atwood.svg --quiet
	target/release/leastaction run double-pendulum --plot book/src/double-pendulum.svg --animate book/src/double-pendulum.gif --quiet
	$(CARGO) run --release --quiet --example closed_loops
	$(CARGO) run --release --quiet --example work_precision
