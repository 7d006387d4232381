# What bin/check, bin/quickstart, bin/release and bin/in-root share: usage, steps with their times, the right
# Node, npm packages, a build.
# To be sourced from the repository's top by bash; $results is where logs go.
step_name='' step_started=0 modules_built=no

step() { step_name=$1 step_started=$SECONDS; printf '\n==> %s\n' "$1"; }
done_with() {
  local status=$1
  if [ "$status" -eq 0 ]; then
    printf '    done in %s s\n' $((SECONDS - step_started))
  else
    printf '    FAILED after %s s\n' $((SECONDS - step_started))
    failed_steps+=("$step_name")
  fi
  return "$status"
}
# The comment at the top of the command, which is in the repository's top by now.
usage() { sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "bin/${0##*/}"; }
wrong() { printf "bin/%s: %s; 'bin/%s --help' shows how it is used\n" "${0##*/}" "$1" "${0##*/}" >&2; exit 2; }
give_up() { printf '\n%s: %s\n' "$0" "$1" >&2; exit 1; }

# Which Node fits, and what goes with it, is in .runtimes/runtimes.json alone; bin/runtime judges. Leaves
# $runtime (the pair's name), $lock (its lock file), $compiles (yes if it has no binary of better-sqlite3).
check_node() {
  command -v node >/dev/null || give_up "Node is not installed; it needs $(nodes_that_fit)."
  local facts
  facts=$(node bin/runtime facts) || exit 1
  eval "$facts"
  # node-gyp compiles better-sqlite3 against these headers; else it must fetch them from nodejs.org.
  local prefix
  prefix=$(node -p 'require("path").resolve(process.execPath, "../..")')
  if [ -z "${npm_config_nodedir:-}" ] && [ -f "$prefix/include/node/node_version.h" ]; then
    local headers
    headers=$(awk '/#define NODE_(MAJOR|MINOR|PATCH)_VERSION/ { printf "%s%s", dot, $3; dot = "." }' "$prefix/include/node/node_version.h")
    [ "v$headers" = "$(node --version)" ] && export npm_config_nodedir=$prefix
  fi
}

nodes_that_fit() {
  sed -n 's/.*"version": "\([0-9]*\)\.\([0-9]*\).*/\1.\2 or a later \1.x/p' .runtimes/runtimes.json |
    sed -n '1h; 1!H; ${x; s/\n/, or /g; p}'
}

# `install_modules` for everything, `install_modules --omit-tests` for what building and running want: less than half of
# it. Packages are in line when the lock file and Node are those of last time; all of them will do for a part.
install_modules() {
  local part=${1:-} stamp=node_modules/.posthorn-lock now there
  now=$(cat $lock .runtimes/runtimes.json bin/runtime | sha256sum | cut -c1-64)-$(node --version)
  there=$(cat $stamp 2>/dev/null)
  if [ "$there" = "$now" ] || { [ -n "$part" ] && [ "$there" = "$now $part" ]; }; then return 0; fi
  : >$results/npm-ci.log
  if [ -n "$part" ] && [ $compiles = yes ] && [ ! -e node_modules ]; then
    install_and_build "$part"
  else
    step "Installing npm packages for $runtime$([ $compiles = no ] || echo ' (compiling better-sqlite3 takes about a minute)')"
    run_npm install $part
  fi
  echo "$now${part:+ $part}" >$stamp
}

# The first time in a newcomer's checkout. Most of a compiler's minute is one file, sqlite3.c, on one processor: the
# source is built beside it.
install_and_build() {
  local build
  step "Installing npm packages for $runtime"
  run_npm install --uncompiled "$1"
  step 'Compiling better-sqlite3, which takes most of a minute, and Posthorn'
  mkdir -p dist && touch dist/.building
  npm run --silent build:modules >$results/build.log 2>&1 &
  build=$!
  run_npm compile
  wait $build || { cat $results/build.log; give_up 'the build failed.'; }
  modules_built=yes
}

# Of npm and the compiler only what shows progress; the rest is in the log.
run_npm() {
  node bin/runtime "$@" 2>&1 | tee -a $results/npm-ci.log |
    awk '/^npm http/ { if (++n % 100 == 0) print "    " n " look-ups" }
      /^> |^ +(CC|CXX|SOLINK_MODULE)\(|^npm error|^added|^bin\/runtime:/ { print "    " $0 }
      { fflush() }'
  done_with "${PIPESTATUS[0]}" || give_up "the packages were not installed; see $results/npm-ci.log."
}

# What `tap run` wants, for coverage.
prepare_test_runner() {
  local stamp=.tap/plugins/posthorn-settings now
  now=$(cat $lock .taprc | sha256sum)
  [ "$(cat $stamp 2>/dev/null)" != "$now" ] || return 0
  step 'Preparing the test runner'
  # Whatever an earlier configuration has left would be used instead.
  rm -rf .tap/plugins
  tap build >/dev/null && echo "$now" >$stamp
  done_with $? || give_up 'tap build failed.'
}

# Of what compiles better-sqlite3 the Debian packages that are missing; none where it has a binary.
missing_compiler() {
  [ $compiles = yes ] || return 0
  local tool
  for tool in make g++ python3; do command -v $tool >/dev/null || echo $tool; done
}

require_compiler() {
  local missing
  [ ! -d node_modules/better-sqlite3/build ] || return 0
  mapfile -t missing < <(missing_compiler)
  provide_packages "${missing[@]}" || give_up 'compiling better-sqlite3 needs them.'
}

# Installs Debian packages as root; else says what to type, with status 1.
provide_packages() {
  [ $# -gt 0 ] || return 0
  step "Debian packages: $*"
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    printf '    Not installed. To install:\n    sudo apt-get install --no-install-recommends %s\n' "$*"
    return 1
  fi
  install_packages "$@" >$results/apt-get.log 2>&1 || { tail -5 $results/apt-get.log; false; }
  done_with $?
}

install_packages() {
  # Postfix brings smtp-sink; its mail server must not start. A policy that is there stays.
  local policy=/usr/sbin/policy-rc.d ours=no status=0
  export DEBIAN_FRONTEND=noninteractive
  if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy && ours=yes
  fi
  case " $* " in
    *' postfix '*) echo 'postfix postfix/main_mailer_type select No configuration' | debconf-set-selections ;;
  esac
  case " $* " in
    *' postgresql '*)
      # Tests start servers of their own.
      mkdir -p /etc/postgresql-common
      [ -e /etc/postgresql-common/createcluster.conf ] || echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
      ;;
  esac
  apt-get update -q && apt-get install -q -y --no-install-recommends "$@" || status=$?
  [ $ours = yes ] && rm -f $policy
  return $status
}

# Without the tests: of those bin/check takes care.
build_if_older() {
  # A build that failed or was interrupted leaves files too, so what counts is the mark of a good one.
  local mark=dist/.built script=build:appliance
  if [ -f $mark ] && [ -z "$(find src bin tsconfig.json $lock -newer $mark ! -path src/client/types.ts ! -path src/dashboard/shell/commands.ts -print -quit)" ]; then return 0; fi
  step 'Building'
  if [ "$modules_built" = yes ]; then script=build:packed; else mkdir -p dist && touch dist/.building; fi
  # The compiler writes its errors to where the bundler says what it has made.
  { npm run --silent $script >$results/build.log && mv dist/.building $mark; } || { cat $results/build.log; false; }
  done_with $? || give_up 'the build failed.'
}
