#!/bin/sh
# Makes a Python environment with what a file of requirements pins: python-environment.sh PYTHON REQUIREMENTS DIRECTORY
set -eu
python=$1 requirements=$2 directory=$3

if cmp -s "$requirements" "$directory/requirements.txt"; then
    touch "$directory/requirements.txt"
    exit 0
fi
# Debian and its kin have environments in a package of their own.
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get install --yes python3-venv || { apt-get update && apt-get install --yes python3-venv; }
    else
        echo "The tests need Python with environments: install python3 and python3-venv, or set PYTHON." >&2
        exit 1
    fi
fi
rm -rf "$directory"
"$python" -m venv "$directory"
"$directory/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$requirements"
cp "$requirements" "$directory/requirements.txt"
