// Issue 42, 2: 'Do the same by' lines of pages are made of the contract and of the commands in src/cli, which the compiler
// holds them to, in views too (bin/check-views).
import { execFileSync } from 'node:child_process'
import t from 'tap'
import { command } from '../../src/dashboard/shell/command-line.js'
import { sameBy } from '../../src/dashboard/shell/parts.js'

t.test('a shell takes a line as it was given, whatever its values are', async (t) => {
  const given = ['Ada', "O'Neil & sons; $(reboot) `id`", '{{ name }}\n"*"', '']
  const { text } = command('suppression add', { of: given, detail: '…', account: undefined })
  const words = execFileSync('sh', ['-c', text.replace('posthorn', 'printf "%s\\0"')])
  t.same(`${words}`.split('\0'), ['suppression', 'add', ...given, '--detail', '…', ''])
})

t.test('options are written as commands have them', async (t) => {
  const line = command('email list', { createdAfter: 'x', to: '', json: true, quiet: false })
  t.equal(line.text, 'posthorn email list --created-after x --json')
  const many = command('template render', { of: ['a'], var: ['b=1', 'c=2'], into: 'a b' })
  t.equal(many.text, "posthorn template render a --var 'b=1' --var 'c=2' > 'a b'")
})

t.test('what no command has does not compile', async () => {
  // @ts-expect-error: a command that is not there
  command('form eat')
  // @ts-expect-error: a group
  command('form')
  // @ts-expect-error: its value is missing
  command('form show')
  // @ts-expect-error: an option that it does not take
  command('form show', { of: ['a'], list: 'b' })
  // @ts-expect-error: no choice of the option
  command('key create', { of: ['a'], scope: 'some' })
  // @ts-expect-error: a line that was typed by hand
  sameBy({ cli: ['posthorn form list'] })
})
