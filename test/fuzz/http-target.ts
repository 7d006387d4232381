import { setTimeout as sleep } from 'node:timers/promises'
import { array, optional, record, string, type, unknown } from 'superstruct'
import { pathId } from '../../src/fields/index.js'
import { startServer } from '../http/start.js'

// The process that `http.test.ts` fires at: native code that fails takes the whole process down,
// so it must not be the test's own. It ends when the test does.

const Mail = type({
  from: string(),
  to: optional(array(string())),
  variables: optional(record(string(), unknown())),
})

const { port, errors } = await startServer(
  { teardown() {} },
  ({ api, pages }) => {
    api.post('/v1/emails/send', { body: Mail, maxBodyBytes: 2000 }, ({ body }) => body)
    api.get('/v1/emails/:id', { params: type({ id: pathId('x').struct }) }, ({ params, query }) => [
      params,
      query,
    ])
    api.post('/v1/slow', { body: Mail }, async ({ body }) => {
      await sleep(2)
      return body
    })
    api.post('/v1/import', { form: true }, ({ form }) => form.file('file')?.bytes.length ?? null)
    pages.get('/page/:name', ({ params }) => ({ html: `<p>${encodeURI(params.name ?? '')}` }))
    pages.get('/go', ({ query }) => ({ redirect: query.get('to') ?? '/' }))
    pages.post('/form', {}, ({ form }) => ({ text: form.get('a') ?? '' }))
  },
  { bodyTimeoutMs: 15 },
)
process.on('disconnect', () => process.exit(0))
process.on('message', () =>
  process.send?.({ errors: errors.map(({ fields }) => String(Object.values(fields).at(-1))) }),
)
process.send?.({ port })
