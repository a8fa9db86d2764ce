#!/usr/bin/env python3
"""The Debian package of `[package.metadata.deb]` (crates/skyhaul-cli/Cargo.toml) by dpkg-deb alone, for machines
without cargo-deb: the same files at the same places. Usage: contrib/deb.py FOLDER, after contrib/package.sh has
put the binary, its manual pages and its completions there."""

import glob
import gzip
import json
import os
import platform
import shutil
import subprocess
import sys

PACKAGE = "skyhaul-cli"


def described():
    """What cargo knows of the package, and the folder that its paths begin at."""
    command = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
    packages = json.loads(subprocess.check_output(command))["packages"]
    package = next(one for one in packages if one["name"] == PACKAGE)
    return package, os.path.dirname(package["manifest_path"])


def install(source, target, mode):
    """Copies a file; manual pages are compressed, as Debian wants them."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if "/man/" in target:
        target += ".gz"
        with open(source, "rb") as plain, open(target, "wb") as packed:
            packed.write(gzip.compress(plain.read(), mtime=0))
    else:
        shutil.copyfile(source, target)
    os.chmod(target, int(mode, 8))


def main(out):
    package, home = described()
    deb = package["metadata"]["deb"]
    root = os.path.join(out, "root")
    for pattern, place, mode in deb["assets"]:
        sources = glob.glob(os.path.join(home, pattern))
        if not sources:
            sys.exit(f"deb.py: there is no {pattern}")
        for source in sources:
            name = place + os.path.basename(source) if place.endswith("/") else place
            install(source, os.path.join(root, name), mode)
    doc = os.path.join(root, "usr/share/doc", deb["name"])
    os.makedirs(doc, exist_ok=True)
    with open(os.path.join(doc, "copyright"), "w") as file:
        file.write(f"Copyright: {deb['copyright']}\nLicense: {package['license']}\n")
    architecture = subprocess.check_output(["dpkg", "--print-architecture"], text=True).strip()
    version = package["version"] + "-1"
    fields = {
        "Package": deb["name"],
        "Version": version,
        "Architecture": architecture,
        "Maintainer": deb["maintainer"],
        "Section": deb["section"],
        "Priority": deb["priority"],
        # Nothing else is linked; its release as on the machine that built it.
        "Depends": f"libc6 (>= {platform.libc_ver()[1]})",
        "Description": f"{package['description']}\n {deb['extended-description']}",
    }
    os.makedirs(os.path.join(root, "DEBIAN"))
    with open(os.path.join(root, "DEBIAN/control"), "w") as file:
        file.writelines(f"{name}: {value}\n" for name, value in fields.items())
    name = os.path.join(out, f"{deb['name']}_{version}_{architecture}.deb")
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", root, name], check=True)
    shutil.rmtree(root)


if __name__ == "__main__":
    main(sys.argv[1])
