import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import t from 'tap'
import { launch } from '../browser/open.js'
import { startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'

const bundle = async (platform: 'neutral' | 'browser') => {
  const { outputFiles, metafile } = await build({
    entryPoints: ['src/client/index.ts'],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'client',
    metafile: true,
    platform,
  })
  return { text: outputFiles[0]?.text ?? '', metafile }
}

t.test('nothing of Node and no package is needed, says esbuild for browsers', async (t) => {
  const { metafile } = await bundle('browser')
  const files = Object.entries(metafile.inputs)
  t.ok(files.length > 10)
  for (const [file, { imports }] of files) {
    t.match(file, /^src\/client\//)
    for (const { path, external } of imports) t.notOk(external, `${file} imports ${path}`)
  }
})

t.test('it sends and verifies where there is nothing but the standard of the web', async (t) => {
  const { url, apiKey } = await startPosthorn(t)
  const { text } = await bundle('neutral')
  // No process, no Buffer, no require.
  const globals = {
    fetch,
    URL,
    URLSearchParams,
    Headers,
    Request,
    Response,
    Blob,
    FormData,
    ReadableStream,
    crypto,
    TextEncoder,
    TextDecoder,
    AbortController,
    setTimeout,
    clearTimeout,
    url,
    apiKey,
  }
  const context = createContext(globals)
  runInContext(text, context)
  const status = await runInContext(
    `(async () => {
      const posthorn = new client.Posthorn({ url, apiKey })
      const { id } = await posthorn.emails.send({
        from: 'a@sender.test', to: 'b@x.test', subject: 'Hi', html: '<p>Hi</p>',
      })
      const { id: list } = await posthorn.contacts.lists.create('Readers')
      const { imported } = await posthorn.contacts.import(list, new Blob(['email\\nann@example.org\\n']))
      const refused = await client.readWebhook('{}', 't=1,v1=' + '0'.repeat(64), 'whsec_x', { now: 1000 })
        .catch((error) => error.reason)
      return [(await posthorn.emails.wait(id)).status, imported, refused, String(posthorn)].join()
    })()`,
    context,
  )
  t.equal(status, `delivered,1,signature,Posthorn(${url})`)
})

t.test(
  'in a page of a browser it says that no key belongs there',
  { skip: missing('chromium') },
  async (t) => {
    const { text } = await bundle('browser')
    const server = createServer((_, response) =>
      response.setHeader('content-type', 'text/html').end(`<script>${text}</script>`),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const browser = await launch(t)
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${port}/`)
    const said = await page.evaluate<string>(
      `(() => { try { new client.Posthorn({ url: location.href, apiKey: 'x' }); return 'none' } catch (e) { return e.message } })()`,
    )
    t.match(said, /An API key in a page belongs to everybody who opens it/)
  },
)

t.test('the package of the appliance exports both doors with types', async (t) => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    exports: Record<string, { types: string; default: string }>
  }
  t.same(Object.keys(exports), ['.', './client'])
  const own = 'posthorn'
  t.type((await import(own)).verifyWebhook, 'function')
  t.type((await import(`${own}/client`)).Posthorn, 'function')
  for (const { types } of Object.values(exports)) t.match(types, /\.d\.ts$/)
})
