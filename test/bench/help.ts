// What `posthorn --help` costs in a release: a processor's time, beside that of bare Node and of the help of one command,
// alternating.
//   node dist/test/bench/help.js --n 20
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { n: { type: 'string', default: '20' } } })

const main = 'dist/packed/cli/main.js'
const commands = {
  'node -e 0': ['-e', '0'],
  'posthorn --help': [main, '--help'],
  'posthorn key --help': [main, 'key', '--help'],
}

/** User and system time, in ms. */
function cpuMs(args: readonly string[]): number {
  const script = 'TIMEFORMAT="%3U %3S"; time "$@" >/dev/null 2>&1'
  const { stderr } = spawnSync('bash', ['-c', script, '-', process.execPath, ...args], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  })
  return stderr.split(/\s+/).reduce((sum, part) => sum + Number(part) * 1_000, 0)
}

const all = Object.entries(commands).map(([name, args]) => ({ name, args, took: [] as number[] }))
for (let i = 0; i < Number(values.n); i++) for (const { args, took } of all) took.push(cpuMs(args))
for (const { name, took } of all) {
  const sorted = took.sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]?.toFixed(0)
  console.log(`${name.padEnd(20)} ${at(0.5)} ms of CPU (${at(0)} to ${at(1)}, n = ${values.n})`)
}
