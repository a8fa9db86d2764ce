#!/usr/bin/env bash
# The binary to give away, with completions and manual pages, in target/package; a Debian package and a static
# binary where the tools for them are there. What was made is looked at; what cannot be made is said aloud.
#
#     contrib/package.sh                     builds the profile `ship`: some minutes
#     contrib/package.sh --built BINARY      packs this binary instead, stripped, and builds nothing: seconds
#     cargo install cargo-deb --locked       makes the Debian package; else contrib/deb.py does, by dpkg-deb
#     rustup target add x86_64-unknown-linux-musl    for the static binary, with musl-gcc (Debian: musl-tools)
set -euo pipefail
cd "$(dirname "$0")/.."
out=target/package

skipped() { echo "package: SKIPPED: $*" >&2; }
has() { command -v "$1" >/dev/null; }

built=
case "${1-}" in
"") ;;
--built) built=$(realpath "${2:?--built needs a BINARY}") ;;
*) echo "usage: contrib/package.sh [--built BINARY]" >&2 && exit 2 ;;
esac

rm -rf "$out"
mkdir -p "$out/completions" "$out/man"
if [ -z "$built" ]; then
    cargo build --profile ship --locked --package skyhaul-cli
    cp target/ship/skyhaul "$out/"
elif has strip; then
    strip -o "$out/skyhaul" "$built"
else
    skipped "no strip: the binary keeps its symbols"
    cp "$built" "$out/"
fi
binary=$out/skyhaul
"$binary" man --dir "$out/man"
"$binary" completions bash >"$out/completions/skyhaul.bash"
"$binary" completions zsh >"$out/completions/_skyhaul"
"$binary" completions fish >"$out/completions/skyhaul.fish"

if has cargo-deb; then
    cargo deb --package skyhaul-cli --profile ship --no-build --no-strip --output "$out/"
elif has dpkg-deb && has python3; then
    skipped "no cargo-deb: contrib/deb.py makes the Debian package"
    python3 contrib/deb.py "$out"
else
    skipped "neither cargo-deb, nor dpkg-deb with python3: no Debian package"
fi

target=$(rustc -vV | sed -n 's/^host: \(.*\)-gnu$/\1-musl/p')
if [ -n "$built" ]; then
    skipped "--built: no static binary"
elif [ -n "$target" ] && [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] && has musl-gcc; then
    cargo build --profile ship --locked --package skyhaul-cli --target "$target"
    cp "target/$target/ship/skyhaul" "$out/skyhaul-static"
    "$out/skyhaul-static" --version
else
    skipped "no target ${target:-for musl}, or no musl-gcc: no static binary"
fi

# What was made works.
bash -n "$out/completions/skyhaul.bash"
if has zsh; then zsh -n "$out/completions/_skyhaul"; else skipped "no zsh: its completions were not read"; fi
if has fish; then fish -n "$out/completions/skyhaul.fish"; else skipped "no fish: its completions were not read"; fi
if has man; then
    for page in "$out"/man/*.1; do
        [ -z "$(LC_ALL=C man --warnings --local-file "$page" 2>&1 >/dev/null)" ] || { echo "package: $page" >&2 && exit 1; }
    done
else
    skipped "no man: its pages were not read"
fi
shopt -s nullglob
for package in "$out"/*.deb; do
    root=$out/root
    dpkg-deb --extract "$package" "$root"
    "$root/usr/bin/skyhaul" --version
    for file in lib/systemd/system/skyhaul-receive.service share/man/man1/skyhaul-send.1.gz \
        share/bash-completion/completions/skyhaul share/doc/skyhaul/copyright; do
        [ -s "$root/usr/$file" ] || { echo "package: $package has no usr/$file" >&2 && exit 1; }
    done
    if has systemd-analyze; then
        unit=$out/skyhaul-receive.service # with the path of the binary as it would be installed
        sed "s#=/usr/bin/#=$(realpath "$root")/usr/bin/#" "$root/usr/lib/systemd/system/skyhaul-receive.service" >"$unit"
        systemd-analyze verify --man=no "$(realpath "$unit")"
        rm "$unit"
    else
        skipped "no systemd-analyze: the unit was not read"
    fi
    rm -rf "$root"
done
ls -l "$out"
