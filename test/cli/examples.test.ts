import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { commandGroups } from '../../src/cli/index.js'
import { openPlace } from './place.js'
import { runCli } from './run.js'

t.setTimeout(300_000)

t.test('every command has help, and examples that it understands', async (t) => {
  const { run, json, data } = await openPlace(t)
  const folder = join(data, '..')
  for (const [name, content] of Object.entries({
    'returned.eml': 'From: MAILER-DAEMON@mx.test\nSubject: Undelivered\n\n550 5.1.1 User unknown\n',
    'welcome.html': '<p>Hello {{ name }}</p>',
    'unsubscribed.csv': 'email\nada@example.org\n',
  })) {
    writeFileSync(join(folder, name), content)
  }
  writeFileSync(join(folder, 'logo.png'), Buffer.from('89504e470d0a1a0a', 'hex'))
  const options = { env: { POSTHORN_DATA: data }, cwd: folder }
  await json('account', 'create', 'City library')

  const examples: string[] = []
  const visited = new Set<string>()
  const headings = [...Object.keys(commandGroups), 'Commands:']
  const visit = async (command: readonly string[]): Promise<void> => {
    const { status, stdout, stderr } = await run(...command, '--help')
    t.match({ status, stderr }, { status: 0, stderr: '' }, `${command.join(' ')} --help`)
    t.ok(stdout.startsWith(`Usage: ${['posthorn', ...command].join(' ')}`))
    const names = `\n${stdout}`
      .split('\n\n')
      .filter((part) => headings.some((heading) => part.startsWith(heading)))
      .flatMap((part) => [...part.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name))
    for (const name of names.filter((one) => one !== 'help')) await visit([...command, name])
    const own = [...stdout.matchAll(/^ {2}\$ .*?(posthorn (?:.*\\\n)*.*)$/gm)]
    t.match(stdout, '--data <dir>')
    if (command.length === 1) visited.add(command.join())
    if (names.length === 0) t.ok(own.length > 0, `${command.join(' ')} has an example`)
    examples.push(...own.map(([, line = '']) => line))
  }
  await visit([])
  t.same(
    [...visited].sort(),
    Object.values(commandGroups).flatMap(Object.keys).sort(),
    'the help of the program names every command',
  )
  t.ok(examples.length > 60)
  for (const example of examples) {
    const [program, ...args] = wordsOf(example)
    t.equal(program, 'posthorn')
    // What it would take the test's machine for, and what never ends.
    if (untried.includes(args[0] ?? '')) continue
    if (args.includes('--watch') || example.includes('/etc/')) continue
    const { status, stderr } = await runCli(withoutPlace(args), options)
    // 1: of what it names, much is not there. 2: it was not understood. 3: of `status`, no appliance runs.
    const good = args[0] === 'status' ? [0, 1, 3] : [0, 1]
    t.ok(good.includes(status ?? -1), `${example}: ${stderr}`)
    t.notMatch(stderr, 'this is a fault of Posthorn', example)
  }
})

const untried = ['serve', 'sandbox', 'quickstart', 'setup', 'upgrade']

/** As a shell would, up to a pipe, a redirection or a remark. */
function wordsOf(line: string): string[] {
  const [command = ''] = line.replaceAll(/\\\n/g, ' ').split(/ \| | > | {3,}(?!-)|\)"?(?: |$)/)
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  )
}

const withoutPlace = (args: readonly string[]) =>
  args.filter((arg, i) => arg !== '--data' && args[i - 1] !== '--data')
