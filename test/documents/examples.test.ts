// Thorough: a command line is started for each command that the documents show.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { cliEntry, initSandbox, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'
import { absent } from '../support/tools.js'
import { type Block, blocksOf, read } from './documents.js'
import { untried } from './untried.js'

/*
 * The examples of the documents are pasted into a shell as they stand, in the order in which a newcomer
 * meets them, beside a fresh sandbox. Only the places differ: the port, and folders of the machine.
 */
t.setTimeout(600_000)

const pages = [
  'README.md',
  'src/openapi/README.md',
  'bin/README.md',
  'config/README.md',
  'src/submission/README.md',
  'systemd/README.md',
  'src/protection/README.md',
  'src/tracking/README.md',
  'data/README.md',
  'src/client/README.md',
  'src/sandbox/README.md',
]

const tried = new Set<string>()

/** The lines of a block that can be run; those that cannot are taken out, with their continuations. */
function runnable({ text }: Block): string {
  return text
    .split(/(?<!\\)\n/)
    .filter((line) => {
      const reason = untried.find(({ begins }) => line.startsWith(begins))
      if (reason) tried.add(reason.begins)
      return reason === undefined
    })
    .join('\n')
}

/** `posthorn` as if it was installed: it knows its data directory, and whoever sits there says yes. */
const posthorn = (data: string) => `#!/bin/bash
export POSTHORN_DATA=\${POSTHORN_DATA-'${data}'}
yes=()
case "$1 $2" in 'queue fail') yes=(--yes) ;; esac
said=$(mktemp)
'${process.execPath}' '${cliEntry}' "$@" "\${yes[@]}" 2>"$said"
status=$?
cat "$said" >&2
# These say by 1 that what they looked at is not good, which in a sandbox it is not.
case "$1 $2" in status*|'domain verify') grep -q ^error: "$said" || status=$((status > 1)) ;; esac
rm "$said"
exit $status
`

// A refusal of the API is a failure of the example.
const prelude = `set -eEo pipefail
trap 'echo "line $LINENO failed: $BASH_COMMAND" >&2' ERR
curl() { case " $* " in *' -f'*) command curl "$@" ;; *) command curl -sS --fail-with-body "$@" ;; esac; }
`

/** A port that nobody has at this moment, for a listener that tells its port to nobody. */
async function spare(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function openSandbox(t: Test) {
  const dir = makeTempDir(t)
  const data = join(dir, 'data/sandbox')
  mkdirSync(join(dir, 'data'))
  const { apiKey } = initSandbox(data)
  const smtp = `127.0.0.1:${await spare()}`
  const submission = /^```toml\n(\[submission\][\s\S]*?)^```$/m
  const [, settings = ''] = submission.exec(read('src/submission/README.md')) ?? []
  appendFileSync(join(data, 'posthorn.toml'), `\n${settings.replace('127.0.0.1:2587', smtp)}`)
  // The DNS of the world is asked nothing.
  appendFileSync(
    join(data, 'posthorn.toml'),
    `
[dns.static."*"]
fail = "nxdomain"
[dns.static."example.com"]
mx = [{ preference = 10, exchange = "mx.example.com" }]
[dns.static."mx.example.com"]
a = ["93.184.215.14"]
# What bin/README.md moves mail to.
[outbound.pools.spare]
sources = [{ addresses = ["127.0.0.2"], helo_name = "localhost" }]
`,
  )
  symlinkSync(resolve('bin'), join(dir, 'bin'))
  mkdirSync(join(dir, 'tools'))
  writeFileSync(join(dir, 'tools/posthorn'), posthorn(data))
  chmodSync(join(dir, 'tools/posthorn'), 0o755)
  const { url } = await serve(t, data, {})
  const { NODE_OPTIONS: _, NODE_V8_COVERAGE: __, ...env } = process.env
  const shell = (script: string) =>
    spawnSync('bash', ['-c', `${prelude}${script}`], {
      cwd: dir,
      encoding: 'utf8',
      env: {
        ...env,
        PATH: `${join(dir, 'tools')}:${process.env.PATH}`,
        API: `${url}/v1`,
        KEY: apiKey,
      },
    })
  const here = (text: string) =>
    text
      .replaceAll('http://127.0.0.1:8080', url)
      .replaceAll('smtp://127.0.0.1:2587', `smtp://${smtp}`)
      .replaceAll('/var/backups/posthorn', join(dir, 'backups'))
      .replaceAll('POSTHORN_DATA=/var/lib/posthorn', `POSTHORN_DATA=${data}`)
      .replaceAll('/var/lib/posthorn', join(dir, 'restored'))
  return { dir, shell, here }
}

/** As if npm had installed it from the appliance. */
function installClient(dir: string): void {
  const own = join(dir, 'node_modules/posthorn-client')
  mkdirSync(own, { recursive: true })
  const exports = './index.js'
  writeFileSync(join(own, 'package.json'), JSON.stringify({ type: 'module', exports }))
  writeFileSync(
    join(own, 'index.js'),
    `export * from '${resolve(cliEntry, '../../client/index.js')}'`,
  )
}

t.test('the examples run as they stand', { skip: absent('jq') || absent('curl') }, async (t) => {
  const { dir, shell, here } = await openSandbox(t)
  // What `posthorn setup` leaves on a server, where systemd/README.md goes on from.
  t.equal(shell('posthorn domain add example.com').status, 0)
  for (const page of pages) {
    const script = here(blocksOf(page).map(runnable).join('\n'))
    const { status, stdout, stderr } = shell(script)
    t.equal(status, 0, `${page}: ${stderr}\n${stdout.slice(-500)}`)
  }
  const scripts = [...read('src/client/README.md').matchAll(/^```ts\n([\s\S]*?)^```$/gm)]
  installClient(dir)
  for (const [i, [, script = '']] of scripts.entries()) {
    writeFileSync(join(dir, `client-${i}.mjs`), here(script))
    t.match(shell(`'${process.execPath}' --check client-${i}.mjs`), { status: 0, stderr: '' })
  }
  t.match(shell(`'${process.execPath}' client-0.mjs`), { status: 0, stdout: /^delivered\n/ })
  t.same(
    untried.filter(({ begins }) => !tried.has(begins)),
    [],
    'what no test can paste stands somewhere',
  )
})
