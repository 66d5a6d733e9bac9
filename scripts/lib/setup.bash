# What the scripts need from the system, installed where it is missing.
# To be sourced; sets `root`, the top of the source tree.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

fail() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Whether what a Debian package is wanted for is there, wherever it came from.
present() {
    case $1 in
        libc6-dev) printf '#include <stdio.h>\n' | gcc -E - >/dev/null 2>&1 ;;
        gcc-*-linux-*) command -v "${1#gcc-}-gcc" >/dev/null ;;
        openssh-client) command -v ssh >/dev/null ;;
        openssh-server) [[ -x /usr/sbin/sshd ]] ;;
        qemu-user) command -v qemu-arm >/dev/null ;;
        python3-pip) python3 -m pip --version >/dev/null 2>&1 ;;
        *) command -v "$1" >/dev/null ;;
    esac
}

# Installs Debian packages, to be run by root. What they would start for the whole machine is not started, neither now
# (invoke-rc.d(8) asks /usr/sbin/policy-rc.d) nor with the next boot.
# shellcheck disable=SC2016 # Another shell expands it.
quietly_install='
    set -e
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        trap "rm -f $policy" EXIT
        printf "#!/bin/sh\nexit 101\n" >"$policy"
        chmod +x "$policy"
    fi
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
    for package; do
        [ "$package" != openssh-server ] || update-rc.d ssh disable >/dev/null 2>&1 || true
    done
'

# need PACKAGE...: installs those Debian packages that are missing.
need() {
    local package missing=() as_root=()
    for package; do
        present "$package" || missing+=("$package")
    done
    ((${#missing[@]})) || return 0

    local install="apt-get install -y --no-install-recommends ${missing[*]}"
    command -v apt-get >/dev/null ||
        fail "not found: ${missing[*]} (Debian's names); please install them"
    if ((EUID != 0)); then
        sudo -n true 2>/dev/null ||
            fail "not found: ${missing[*]}; please run: sudo apt-get update && sudo $install"
        as_root=(sudo -n)
    fi
    printf 'installing the packages %s\n' "${missing[*]}" >&2
    if ! "${as_root[@]}" apt-get update -qq >/dev/null ||
        ! "${as_root[@]}" bash -c "$quietly_install" install "${missing[@]}"; then
        fail "apt-get could not install ${missing[*]} (its own message is above)"
    fi
    for package in "${missing[@]}"; do
        present "$package" || fail "$package was installed, but is still not found"
    done
}

# need_gdb VERSION PACKAGE: installs that gdb as target/tools/gdb-MAJOR, out of a Python package that carries it.
need_gdb() {
    local version=$1 package=$2
    local tools=$root/target/tools python
    local program=$tools/gdb-${version%%.*} folder=$tools/gdb-$version

    [[ $("$program" --version 2>/dev/null) == *" $version"* ]] && return
    need gdb python3 python3-pip # that gdb needs the libpython which Debian's gdb brings
    printf 'installing gdb %s (the Python package %s) as %s\n' "$version" "$package" "$program" >&2
    mkdir -p "$tools"
    rm -rf "$folder"
    PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 \
        python3 -m pip install --quiet --no-deps --target "$folder" "$package" >&2 ||
        fail "pip could not install $package (its own message is above); it is to be had for x86-64 and arm64"

    # The package belongs to the Python that installed it, whatever `python3` means later.
    python=$(python3 -c 'import sys; print(sys.executable)')
    cat >"$program" <<END
#!/bin/sh
folder=\$(dirname "\$(readlink -f "\$0")")/gdb-$version
PYTHONPATH=\$folder exec '$python' "\$folder/bin/gdb" "\$@"
END
    chmod +x "$program"
    "$program" --version >/dev/null || fail "gdb $version was installed, but does not run (see above)"
}
