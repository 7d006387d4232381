import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'

const settingsOf = (file: string) => {
  const text = readFileSync(file, 'utf8')
  return [...new Set(text.match(/--[\w-]+=\d+|MALLOC_\w+=\d+/g))].sort()
}

t.test('a release starts with the same settings of V8 and malloc as a checkout', async (t) => {
  const ofCheckout = settingsOf('bin/posthorn')
  t.equal(ofCheckout.length, 6)
  t.same(settingsOf('bin/pack/posthorn.sh'), ofCheckout)
})

t.test('what is packed has no character for which V8 would keep two bytes of each', async (t) => {
  const files = readdirSync('dist/packed', { recursive: true, encoding: 'utf8' })
  const sources = files.filter((file) => /\.c?js$/.test(file))
  t.ok(sources.length > 100)
  const wide = sources.filter((file) =>
    /[^\0-\x7f]/.test(readFileSync(join('dist/packed', file), 'utf8')),
  )
  t.same(wide, [])
})

t.test('what is required late is in no file that a thread loads before', async (t) => {
  const chunks = 'dist/packed/chunks'
  const textOf = (file: string) => readFileSync(join(chunks, file), 'utf8')
  const others = readdirSync(chunks).filter((file) => file.endsWith('.js'))
  for (const [file, phrase] of Object.entries({
    'bree.cjs': 'Worker for job',
    'libphonenumber-js.cjs': 'INVALID_COUNTRY',
    'pino-pretty.cjs': 'singleLine',
    'prom-client.cjs': 'nodejs_eventloop_lag_seconds',
    'temporal-polyfill.cjs': 'Invalid leap month',
  })) {
    t.ok(textOf(file).includes(phrase), file)
    t.same(
      others.filter((other) => textOf(other).includes(phrase)),
      [],
      phrase,
    )
  }
})

t.test(
  "pages and the API's description are in files that nothing imports at its start",
  async (t) => {
    const files = readdirSync('dist/packed', { recursive: true, encoding: 'utf8' })
    const texts = files
      .filter((file) => file.endsWith('.js'))
      .map((file) => ({
        name: basename(file),
        text: readFileSync(join('dist/packed', file), 'utf8'),
      }))
    for (const phrase of [
      'A mail cannot be composed again for its page',
      'Posthorn signs mail and delivers it straight to the recipients',
    ]) {
      const holding = texts.filter(({ text }) => text.includes(phrase)).map(({ name }) => name)
      t.equal(holding.length, 1, phrase)
      const imports = (text: string) => holding.some((name) => text.includes(`/${name}`))
      const importing = texts.filter(({ text }) => imports(text.replace(/import\("[^"]+"\)/g, '')))
      t.same(importing, [], `${holding.join()} is imported when it is needed`)
      t.ok(texts.some(({ text }) => imports(text)))
    }
  },
)

t.test(
  'what mail is composed and read with needs no file that a running appliance has not loaded',
  async (t) => {
    const files = readdirSync('dist/packed/chunks')
    t.same(
      files.filter((file) => /html|nodemailer|postal/.test(file)),
      [],
    )
  },
)

t.test('a release has every view, style and script that lies beside the code', async (t) => {
  const told = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'])
  const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(told.toString())
  const packed = new Set(files.map(({ path }) => path))
  const beside = readdirSync('src', { recursive: true, encoding: 'utf8' })
  const needed = beside.filter((file) => /\.(ejs|css|js)$/.test(file)).map((file) => `src/${file}`)
  t.ok(needed.length > 100)
  t.same(
    needed.filter((file) => !packed.has(file)),
    [],
  )
})
