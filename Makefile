# The targets a contributor needs. `make test` is what continuous integration runs.

CARGO ?= cargo

.PHONY: test test-long bench

# Formatting, lints, documentation, and every test that takes seconds.
test:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet
	$(CARGO) test --workspace
	$(CARGO) test --quiet --package leastaction-compile --test fuzz -- --nocapture

# The same sweeps over millions of points and programs; takes a while.
test-long:
	$(CARGO) test --release --workspace -- --include-ignored --nocapture

# Generated code against code written by hand, and how long chains scale, as Markdown tables.
bench:
	$(CARGO) bench --package leastaction-compile --bench pendulum
	$(CARGO) bench --package leastaction-mechanics --bench equations
	$(CARGO) bench --package leastaction-integrate --bench chain
