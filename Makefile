# The targets a contributor needs. `make test` is what continuous integration runs.

CARGO ?= cargo
PYTHON ?= python3

# Cargo shares out jobs of its own, and has no part in those of make.
cargo = env -u MAKEFLAGS $(CARGO)
# Where cargo builds.
built = $${CARGO_TARGET_DIR:-target}

.PHONY: test lints rust-tests python-tests test-long bench bench-peers pictures learning wheel

# Formatting, lints, documentation, and every test that takes seconds. Lints are built in a folder of their own, so that they and the tests do not wait
# for each other: a chain of crates leaves a core idle, which the other chain uses.
test:
	$(MAKE) --no-print-directory --jobs 3 lints python-tests

lints:
	$(cargo) fmt --all --check
	$(cargo) clippy --quiet --workspace --all-targets --target-dir $(built)/lints -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(cargo) doc --quiet --workspace --no-deps --target-dir $(built)/lints

rust-tests:
	$(cargo) test --workspace

python-tests: .venv/requirements.txt rust-tests
	$(cargo) build --quiet --profile test --package leastaction --package leastaction-python
	tools/python-package.sh $(built)/debug .venv
	.venv/bin/python -m unittest discover --start-directory tests/python
	.venv/bin/python -m unittest discover --start-directory python/tests

# The Python environment in which files are read back by other readers, and the command is run in a pseudo-terminal. It is made anew when
# what it should hold changes.
.venv/requirements.txt: tests/python/requirements.txt
	tools/python-environment.sh $(PYTHON) $< .venv

# The Python package, to install by pip: in target/wheels.
wheel: .venv-wheel/requirements.txt
	.venv-wheel/bin/maturin build --release --strip

.venv-wheel/requirements.txt: python/requirements.txt
	tools/python-environment.sh $(PYTHON) $< .venv-wheel

# The same sweeps over millions of points and programs, and every known answer computed again; takes a while.
test-long: .venv/requirements.txt
	$(CARGO) test --release --workspace -- --include-ignored --nocapture
	.venv/bin/python tools/answers.py crates/simulate/tests/answers/*.motion

# Generated code against code written by hand, and how long chains scale, as Markdown tables.
bench: .venv/requirements.txt
	$(CARGO) bench --package leastaction-compile --bench pendulum
	$(CARGO) bench --package leastaction-mechanics --bench equations
	$(CARGO) bench --package leastaction-mechanics --bench acceleration
	$(CARGO) bench --package leastaction-integrate --bench chain
	$(CARGO) bench --package leastaction-integrate --bench gradient
	$(CARGO) bench --package leastaction-field --bench tetrahedra
	$(CARGO) bench --package leastaction-field --bench pairs
	$(CARGO) bench --package leastaction-simulate --bench real_time
	$(CARGO) build --release --quiet --package leastaction-python
	tools/python-package.sh $(built)/release .venv
	.venv/bin/python bench/python.py

# The pictures of the README and the book.
pictures: program = $(built)/release/leastaction
pictures:
	$(CARGO) build --release --quiet
	$(program) run book/models/atwood.motion --plot book/src/atwood.svg --quiet
	$(program) run double-pendulum --plot book/src/double-pendulum.svg --quiet
	$(program) run double-pendulum --until 5 --animate book/src/double-pendulum.gif --quiet
	$(program) run book/models/chain.motion --samples 1000 --plot book/src/chain.svg --quiet
	$(program) run book/models/skate.motion --samples 1000 --plot book/src/skate.svg --quiet
	$(program) section henon-heiles --through x --rising --energy 0.125 --solve p_x --vary y=-0.3..0.6 \
		--orbits 20 --show y,p_y --plot book/src/henon-heiles.svg --quiet
	$(program) compare henon-heiles --methods rk4,verlet,blanes-moan6,gauss4,dop853 --step 0.1 --until 1000 \
		--plot book/src/compare.svg --quiet
	$(program) ensemble double-pendulum --sample "th1=grid(-3.1,3.1,1000)" --sample "th2=grid(-3.1,3.1,1000)" --set l2=1 \
		--until 20 --tol 1e-6 --stop "flip=cos(th1/2)*cos(th2/2)" --reduce "map(first(flip))" --plot book/src/flips.png --quiet
	$(program) ensemble pendulum --sample "th'=grid(-8,8,33)" --until 3 --samples 300 --plot "th' over th" \
		--plot book/src/portrait.png --quiet
	$(CARGO) run --release --quiet --example closed_loops
	$(CARGO) run --release --quiet --example work_precision -- book/src/work-precision.svg

# The comparison of networks that the page on learning shows, and bench/LEARNING-QUICK.md tells: some minutes. What took longer is in bench/LEARNING.md.
learning: program = $(built)/release/leastaction
learning:
	$(CARGO) build --release --quiet
	$(program) learn reproduce --quick --out target/learning
	cp target/learning/report.md bench/LEARNING-QUICK.md
	cp target/learning/errors.svg book/src/learning-errors.svg

# Ours beside other programs, in turn, on the same problems within the same errors: writes bench/RESULTS.md, and how ensembles scale. Some minutes, on a
# machine that does nothing else; PEERS="--only p1,p3" runs some of it, and prints it.
bench-peers: .venv-peers/requirements.txt
	$(CARGO) build --release --quiet --example stopwatch --example scaling
	.venv-peers/bin/python bench/peers/peers.py $(built)/release/examples $(PEERS)

.venv-peers/requirements.txt: bench/peers/requirements.txt
	tools/python-environment.sh $(PYTHON) $< .venv-peers
