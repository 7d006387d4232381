import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { plainly } from '../support/plain-program.js'
import { makeTempDir } from '../support/store.js'

/*
 * What the commands in bin/ say of themselves in a fresh clone: at once, and before npm or apt run.
 */
const commands = ['check', 'in-root', 'quickstart', 'release', 'runtime']

/** A clone of what they need, and a PATH whose npm leaves a mark and fails. */
function freshClone(test: Test) {
  const folder = makeTempDir(test)
  for (const part of ['bin', '.runtimes', 'package.json', 'package-lock.json', '.taprc']) {
    cpSync(part, join(folder, part), { recursive: true })
  }
  const tools = join(makeTempDir(test), 'tools')
  const mark = join(tools, 'called')
  mkdirSync(tools)
  for (const name of ['npm', 'apt-get', 'debootstrap']) {
    writeFileSync(join(tools, name), `#!/bin/sh\necho ${name} >>${mark}\nexit 1\n`)
    chmodSync(join(tools, name), 0o755)
  }
  const [program, ...more] = plainly
  const before = readdirSync(folder)
  return {
    run(command: string, ...args: string[]) {
      const { status, stdout, stderr } = spawnSync(
        program,
        [...more, join(folder, 'bin', command), ...args],
        {
          cwd: tools,
          encoding: 'utf8',
          timeout: 60_000,
          env: { ...process.env, PATH: `${tools}:${process.env.PATH}` },
        },
      )
      return { status, stdout, stderr }
    },
    isUntouched: () => !existsSync(mark) && readdirSync(folder).join() === before.join(),
  }
}

t.test('--help prints the usage at once', async (t) => {
  const clone = freshClone(t)
  for (const command of commands) {
    for (const flag of ['--help', '-h']) {
      const { status, stdout, stderr } = clone.run(command, flag)
      t.match({ status, stderr }, { status: 0, stderr: '' }, `bin/${command} ${flag}`)
      t.match(stdout, new RegExp(`^  +bin/${command} `, 'm'))
      t.notMatch(stdout, /^(#|\/\/|set -|import )/m, 'no line of the script itself')
    }
  }
  t.ok(clone.isUntouched(), 'nothing was installed or made')
})

t.test('an option that is not there is one sentence, with status 2', async (t) => {
  const clone = freshClone(t)
  for (const command of commands) {
    t.match(
      clone.run(command, '--wrong'),
      {
        status: 2,
        stdout: '',
        stderr: new RegExp(
          `^bin/${command}: unknown (option|argument):? '?--wrong'?; 'bin/${command} --help' shows how it is used\n$`,
          'i',
        ),
      },
      command,
    )
  }
  t.ok(clone.isUntouched(), 'nothing was installed or made')
})

t.test('what bin/release cannot build is told before npm runs', async (t) => {
  const clone = freshClone(t)
  for (const [args, complaint] of [
    [['--runtime', 'node22'], "no runtime pair is called 'node22', only node24 and node20"],
    [['--runtime=node24', '--arch', 'mips'], "node24 has no files for the processor 'mips'"],
    [['--level', '12'], "the level is a digit from 0 to 9, not '12'"],
    [['--out'], "Option '--out <value>' argument missing"],
    [['node24'], "Unexpected argument 'node24'"],
  ] as const) {
    t.match(clone.run('release', ...args), {
      status: 2,
      stdout: '',
      stderr: `bin/release: ${complaint}; 'bin/release --help' shows how it is used\n`,
    })
  }
  t.ok(clone.isUntouched(), 'nothing was installed or made')
})

t.test('the pair and the command that bin/in-root and bin/runtime want are named', async (t) => {
  const clone = freshClone(t)
  for (const [command, args, complaint] of [
    ['in-root', [], /the name of a pair is missing/],
    ['in-root', ['node22', 'true'], /no runtime pair is called 'node22'/],
    ['in-root', ['node24'], /the command to run is missing/],
    ['runtime', [], /a command is missing: there are facts, install, compile, verify, node, lock/],
    ['runtime', ['fetch'], /unknown command 'fetch': there are facts/],
    ['runtime', ['facts', '--runtime', 'node22'], /no runtime pair is called 'node22'/],
  ] as const) {
    t.match(clone.run(command, ...args), { status: 2, stdout: '', stderr: complaint })
  }
  t.ok(clone.isUntouched(), 'nothing was installed or made')
})
