#!/bin/sh
# Puts the Python package into an environment, with the native part that cargo has built already: python-package.sh BUILT ENVIRONMENT
set -eu
built=$1 environment=$2
packages=$("$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')

library=$built/lib_native.so
[ -e "$library" ] || library=$built/lib_native.dylib
rm -rf "$packages/leastaction"
cp -R "$(dirname "$0")/../python/leastaction" "$packages/leastaction"
# It is loaded by its place, so a link will do.
ln -s "$(cd "$(dirname "$library")" && pwd)/$(basename "$library")" "$packages/leastaction/_native.abi3.so"
