# What bin/check and bin/quickstart share: steps with their times, the right Node, npm packages.
# To be sourced from the repository's top by bash; $results is where logs go.
step_name='' step_started=0

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
give_up() { printf '\n%s: %s\n' "$0" "$1" >&2; exit 1; }

check_node() {
  command -v node >/dev/null || give_up "Node is not installed; it needs 20.20 or a later 20.x."
  node -e 'const [a, b] = process.versions.node.split("."); process.exit(+a === 20 && +b >= 20 ? 0 : 1)' ||
    give_up "Node $(node --version) is in use; it needs 20.20 or a later 20.x (the HTTP server's binary exists for Node 20 alone)."
  # node-gyp compiles better-sqlite3 against these headers; else it must fetch them from nodejs.org.
  local prefix
  prefix=$(node -p 'require("path").resolve(process.execPath, "../..")')
  if [ -z "${npm_config_nodedir:-}" ] && [ -f "$prefix/include/node/node_version.h" ]; then
    local headers
    headers=$(awk '/#define NODE_(MAJOR|MINOR|PATCH)_VERSION/ { printf "%s%s", dot, $3; dot = "." }' "$prefix/include/node/node_version.h")
    [ "v$headers" = "$(node --version)" ] && export npm_config_nodedir=$prefix
  fi
}

# Packages are in line when the lock file, the test runner's settings and Node are those of last time.
install_modules() {
  local stamp=node_modules/.posthorn-lock now
  now=$(cat package-lock.json .taprc | sha256sum | cut -c1-64)-$(node --version)
  if [ "$(cat $stamp 2>/dev/null)" = "$now" ] && [ -d .tap/plugins ]; then return 0; fi
  step 'Installing npm packages (compiling better-sqlite3 takes about a minute)'
  # Of npm and the compiler only what shows progress; the rest is in the log.
  npm ci --no-audit --no-fund --foreground-scripts --loglevel=http 2>&1 | tee $results/npm-ci.log |
    awk '/^npm http/ { if (++n % 100 == 0) print "    " n " look-ups" }
      /^> |^ +(CC|CXX|SOLINK_MODULE)\(|^npm error|^added/ { print "    " $0 }
      { fflush() }'
  done_with "${PIPESTATUS[0]}" || give_up "npm ci failed; see $results/npm-ci.log."
  step 'Preparing the test runner'
  # Whatever an earlier configuration has left would be used instead.
  rm -rf .tap/plugins
  node_modules/.bin/tap build >/dev/null
  done_with $? || give_up 'tap build failed.'
  echo "$now" >$stamp
}
