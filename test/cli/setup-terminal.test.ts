import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import t, { type Test } from 'tap'
import { makeTempDir } from '../support/store.js'
import { main } from './run.js'

t.setTimeout(300_000)

const env = {
  PATH: process.env.PATH,
  TERM: 'xterm',
  POSTHORN_DNS_SERVERS: '127.0.0.1:9',
  POSTHORN_DNS_TIMEOUT: '100ms',
  POSTHORN_DOCTOR_TIMEOUT: '100ms',
}

/** `posthorn setup` at a terminal of 80 columns (script(1) makes one); each line is typed when it is asked for. */
async function atTerminal(t: Test, data: string, lines: readonly string[]) {
  const command = `stty cols 80; ${process.execPath} ${main} setup --data ${data}`
  const child = spawn('script', ['-qefc', command, '/dev/null'], { env })
  t.teardown(() => child.kill())
  const left = [...lines]
  let text = ''
  let asked = 0
  child.stdout.setEncoding('utf8').on('data', (said: string) => {
    text += said
    if (!stripVTControlCharacters(text.slice(asked)).endsWith('> ')) return
    asked = text.length
    child.stdin.write(left.shift() ?? '\x03')
  })
  const [status] = await once(child, 'close')
  return { status, screen: stripVTControlCharacters(text).replaceAll('\r', ''), left }
}

const goodAnswers = ['mail.shop.test\r', '192.0.2.25\r', '\r', 'ann@ops.test\r', 'n\r', 'n\r']

t.test('at a terminal wrong answers are told at once and asked again', async (t) => {
  const data = join(makeTempDir(t), 'data')
  const { status, screen, left } = await atTerminal(t, data, [
    '192.0.2.25\r',
    'mail\r',
    'mail.shop.test\r',
    'nowhere\r',
    '192.0.2.25\r',
    '\r',
    'ann\r',
    'ann@ops.test\r',
    'perhaps\r',
    'n\r',
    '\r',
    '\r',
  ])
  t.equal(status, 0, screen)
  t.same(left, [])
  t.match(screen, '"192.0.2.25" is an address; a name is wanted, such as mail.example.com')
  t.match(screen, '"nowhere" is not an IP address')
  t.match(screen, '[shop.test] > ', 'guessed from the name of the machine')
  t.match(screen, '"ann" is not a mail address')
  t.match(screen, 'Please answer yes or no')
  t.match(screen, 'day 1 of 16: 50 mails today')
  t.match(screen, /What will be done\n\n {2}write {5}/)
  t.match(screen, /What is left for you\n\n {2}1\. here: start it: posthorn serve/)
  t.match(readFileSync(join(data, 'posthorn.toml'), 'utf8'), 'notify = "ann@ops.test"')
  const wide = screen
    .split('\n')
    .filter((line) => line.length > 80 && !/ IN TXT | IN MX /.test(line))
  t.same(
    wide.filter((line) => !line.includes(data)),
    [],
    'but for names of files and lines of a zone, all fits 80 columns',
  )
})

t.test('no is an answer, and so are Ctrl-C and Ctrl-D', async (t) => {
  for (const [what, lines] of [
    ['no', [...goodAnswers, 'n\r']],
    ['Ctrl-C', ['mail.shop.test\r', '\x03']],
    ['Ctrl-D', ['mail.shop.test\r', '\x04']],
  ] as const) {
    const data = join(makeTempDir(t), 'data')
    const { status, screen } = await atTerminal(t, data, lines)
    t.equal(status, 1, what)
    t.match(screen, 'error: Stopped: nothing was changed', what)
    t.notOk(existsSync(data), what)
  }
})

t.test('a second run offers what was answered before', async (t) => {
  const data = join(makeTempDir(t), 'data')
  await atTerminal(t, data, [...goodAnswers, 'y\r'])
  const { status, screen } = await atTerminal(
    t,
    data,
    Array.from({ length: 7 }, () => '\r'),
  )
  t.equal(status, 0, screen)
  for (const known of ['mail.shop.test', '192.0.2.25', 'shop.test', 'ann@ops.test']) {
    t.match(screen, `[${known}] > `)
  }
  t.match(screen, `kept      ${data}/posthorn.toml`)
})
