import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { nameAndValue } from '../../src/cli/option-values.js'
import { readVariables } from '../../src/cli/template-input.js'
import { jsonOf, runCli } from '../cli/run.js'
import { makeTempDir } from '../support/store.js'

const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

t.test('posthorn template, from put to delete', async (t) => {
  const dir = makeTempDir(t)
  const env = { POSTHORN_DATA: join(dir, 'data') }
  const file = (name: string, content?: string) => {
    const path = join(dir, name)
    if (content !== undefined) writeFileSync(path, content)
    return path
  }
  const run = async (...args: string[]) => runCli(['template', ...args], { env })
  const answer = async (...args: string[]) => {
    const { status, stdout, stderr } = await run(...args)
    t.match({ status, stderr }, { status: 0, stderr: '' }, args.join(' '))
    return stdout
  }
  const refused = async (...args: string[]) => {
    const { status, stdout, stderr } = await run(...args)
    t.match({ status, stdout }, { status: 1, stdout: '' }, args.join(' '))
    return stderr
  }
  const fromStdin = (path: string) => ({
    env,
    program: ['/bin/sh', '-c', `exec "$0" "$@" <${path}`, process.execPath, main],
  })
  await jsonOf(t, ['init'], { env })
  if ((await jsonOf<unknown[]>(t, ['account', 'list'], { env })).length === 0) {
    await jsonOf(t, ['account', 'create', 'City'], { env })
  }

  t.equal(await answer('list'), "No template yet; 'posthorn template put SLUG' saves one\n")
  t.match(await refused('put', 'welcome', '--subject', 'Hi'), /no template "welcome" yet/)

  const html = file('a.html', '<p>\n  Hello <b>{{ user.name }}</b>\n')
  const put = await answer('put', 'welcome', '--html', html, '--subject', 'Hi {{ n }}')
  t.equal(put, 'welcome is saved as version 1.\n')

  const text = file('a.txt', 'Hello {{ user.name }}, {{ n }}')
  const second = await jsonOf(t, ['template', 'put', 'welcome', '--text', '-'], fromStdin(text))
  t.match(second, { version: 2, subject: 'Hi {{ n }}', textBody: 'Hello {{ user.name }}, {{ n }}' })

  t.equal(await answer('show', 'welcome', '--part', 'html'), readFileSync(html, 'utf8'))
  t.match(await answer('show', 'welcome'), /Slug +welcome\nVersion +2\n(.*\n)+\n<p>\n/)
  t.match(await jsonOf(t, ['template', 'show', 'welcome', '--at', '1'], { env }), {
    version: 1,
    textBody: null,
  })
  t.match(await run('show', 'welcome', '--part', 'body'), {
    status: 2,
    stderr: /Allowed choices are subject, html, text/,
  })

  const vars = file('vars.json', '{"user": {"name": "<Ada>"}, "n": 1}')
  t.equal(
    await answer('render', 'welcome', '--vars', vars, '--var', 'n=2=3'),
    'Subject  Hi 2=3\n\nHello <Ada>, 2=3\n\n<p>\n  Hello <b>&lt;Ada&gt;</b>\n\n',
  )
  t.same(
    await jsonOf(
      t,
      ['template', 'render', 'welcome', '--at', '1', '--subject', 'S', '--vars', '-'],
      fromStdin(vars),
    ),
    { subject: 'S', html: '<p>\n  Hello <b>&lt;Ada&gt;</b>\n', text: null },
  )

  t.equal(
    await refused('render', 'welcome', '--var', 'n=1', '--at', '1'),
    `error: Template "welcome" cannot be rendered: the variable "user" is missing (html, line 2, column 15)

  2 |   Hello <b>{{ user.name }}</b>
    |               ^
`,
  )
  const wide = file('wide.html', `${'\t'.repeat(300)}{% nothing %}${'x'.repeat(300)}`)
  const excerpt = (await refused('put', 'wide', '--html', wide, '--subject', 'S')).split('\n')
  t.match(
    excerpt[0],
    'has a syntax error: {% nothing %} is no command; for a value write {{ nothing }} (html, line 1, column 301)',
  )
  t.equal(excerpt[2]?.length, 6 + 100)
  t.equal(excerpt[2]?.slice(excerpt[3]?.indexOf('^')).slice(0, 13), '{% nothing %}')

  t.match(await refused('put', 'welcome', '--html', file('none')), /ENOENT.*none/)
  t.match(await refused('put', 'welcome', '--html', '-', '--text', '-'), /Only one part/)
  t.match(
    await refused('put', 'Bad', '--html', html, '--subject', 'S'),
    /A template's slug must have/,
  )
  t.match(
    await refused('show', 'Welcome'),
    /The account has no template "Welcome"; 'posthorn template list'/,
  )
  t.equal((await run('show', 'welcome', '--at', '0')).status, 2)

  t.match(await answer('put', 'welcome', '--no-text'), /version 3/)
  t.match(await jsonOf(t, ['template', 'list'], { env }), {
    templates: [{ slug: 'welcome', version: 3, subject: 'Hi {{ n }}' }],
    hasMore: false,
    nextCursor: null,
  })
  t.match(await answer('list'), /^SLUG +VERSION +SAVED +SUBJECT\nwelcome +3 /)
  t.match(await answer('versions', 'welcome'), /^VERSION .*\n3 .*\n2 .*\n1 .*\n$/)
  const { versions } = await jsonOf<{ versions: { version: number }[] }>(
    t,
    ['template', 'versions', 'welcome'],
    { env },
  )
  t.same(
    versions.map(({ version }) => version),
    [3, 2, 1],
  )
  t.equal(await answer('delete', 'welcome', '--yes'), 'welcome is deleted.\n')
  t.match(await refused('delete', 'welcome'), /The account has no template "welcome"/)
})

t.test('variables are named one by one, or come as a JSON object', async (t) => {
  const file = (content: string) => {
    const path = join(makeTempDir(t), 'vars.json')
    writeFileSync(path, content)
    return path
  }
  const vars = file('{"a": {"b": 1}, "c": 2}')
  t.same(readVariables({ vars, var: ['c=3', 'd=', 'e=f=g'].map(nameAndValue) }), {
    a: { b: 1 },
    c: '3',
    d: '',
    e: 'f=g',
  })
  t.same(readVariables({}), {})
  for (const [content, message] of [
    ['[]', /variables as a JSON object/],
    ['null', /variables as a JSON object/],
    ['{', /vars\.json: .*JSON/],
  ] as const) {
    t.throws(() => readVariables({ vars: file(content) }), { name: 'OperatorError', message })
  }
})
