# The front door. Each target is a line or two over CMake and tools/.
PREFIX ?= /usr/local
ARCH ?= x86_64
SECONDS ?= 60
TESTED = dev release-test asan tsan

.PHONY: help deps build demo test test-arm test-spark static deb release test-packages wasm site pictures bench lint fuzz lab install clean

help:
	@echo 'make demo      build, and show the near-duplicates in samples/'
	@echo 'make test      build and test: plain, Release, address+undefined sanitizers, thread sanitizer'
	@echo 'make test-arm  the same bytes from a program for 64-bit ARM, under qemu'
	@echo 'make test-spark  large collections on a cluster of Spark, with workers that are killed'
	@echo 'make static    build/static/twinsift-x86_64: one file without shared libraries (ARCH=aarch64: for ARM)'
	@echo 'make wasm      build/wasm/site: the page that shows how it works, without a server'
	@echo 'make site      build/site/html: the documentation as pages, with search'
	@echo 'make lint      formatting, clang-tidy, cppcheck, direction of includes'
	@echo 'make fuzz      run each fuzz target for SECONDS=60'
	@echo 'make deb       build/deb: the Debian packages'
	@echo 'make release   build/dist: source and programs as archives, the same bytes each time, with checksums'
	@echo 'make test-packages  install and use each package in a fresh root, as root'
	@echo 'make bench     run the benchmarks'
	@echo 'make lab       run the experiments; $$TWINSIFT_DATA is the folder of the data sets'
	@echo 'make build     build/release/twinsift, libtwinsift.a, libtwinsift.so'
	@echo 'make wheel     build the Python package in build/python/dist, a file that runs anywhere'
	@echo 'make install   into PREFIX=/usr/local (and below DESTDIR)'
	@echo 'make deps      install the Debian packages of tools/packages.txt'
	@echo 'make clean     remove build/'

deps:
	@tools/deps.sh

build:
	@for tool in cmake ninja gcc g++ pkg-config; do command -v $$tool >/dev/null || \
		{ echo "make: $$tool is missing; run make deps" >&2; exit 1; }; done
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@cmake --build --preset release

demo:
	@tools/deps.sh build
	@$(MAKE) --no-print-directory build
	@tools/demo.sh

test: deps
	@tools/test.sh $(TESTED)
	@tools/test_python.sh

test-arm:
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev -- twinsift
	@tools/test_arm.sh || [ $$? = 77 ]

test-spark: build
	@tools/test_python.sh --spark

static:
	@tools/static.sh $(ARCH)

wasm:
	@tools/wasm.sh

site: build
	@tools/site.sh

pictures: build
	@python3 tools/pictures.py

deb:
	@packaging/deb.sh

release:
	@packaging/release.sh

test-packages:
	@packaging/test.sh

bench: build
	@tools/bench.sh

lint:
	@tools/lint.sh

fuzz:
	@tools/fuzz.sh $(SECONDS)

lab: build
	build/release/twinsift-lab all --out build/lab --report

install: build
	@DESTDIR=$(DESTDIR) cmake --install build/release

wheel:
	@tools/wheel.sh

test-wheel-arm:
	@tools/wheel.sh aarch64
	@tools/test_wheel_arm.sh

clean:
	rm -rf build
