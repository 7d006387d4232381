import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import t from 'tap'
import { isPosthornError, Posthorn, type PosthornError } from '../../src/client/index.js'
import type { Document } from '../../src/openapi/index.js'
import { startPosthorn } from '../support/posthorn.js'
import { methods } from './methods.js'

interface Example {
  summary: string
  value: unknown
}
interface Operation {
  requestBody?: { content: Record<string, { examples?: Record<string, Example> }> }
  responses: Record<
    string,
    { content: { 'application/json': { examples: Record<string, Example> } } }
  >
}

const url = 'http://posthorn.test'
const ids = ['01a1fc92-9915-7533-8296-04ee3d91dd72', '01a1fc92-9915-7533-8296-0a5be7d1c2f3']

/** What msw answers for the server: one documented example of one operation, whatever it is asked. */
function handlerOf(name: string, status: number, value: unknown, asked: Request[]) {
  const [method = '', path = ''] = name.split(' ')
  const verb = method.toLowerCase() as 'get' | 'post' | 'patch' | 'put' | 'delete'
  return http[verb](url + path.replace(/\{(\w+)\}/g, ':$1'), ({ request }) => {
    asked.push(request.clone())
    return HttpResponse.json(value as object, { status })
  })
}

t.test('each documented answer and refusal comes back through its method', async (t) => {
  const appliance = await startPosthorn(t)
  const document = (await (await fetch(`${appliance.url}/v1/openapi.json`)).json()) as Document
  const server = setupServer()
  // Nothing but what is documented may be asked for.
  server.listen({ onUnhandledRequest: 'error' })
  t.teardown(() => server.close())
  const posthorn = new Posthorn({ url, apiKey: 'ph_test', retries: 0 })

  let met = 0
  for (const [name, { ask, field }] of Object.entries(methods)) {
    const [method = '', path = ''] = name.split(' ')
    const operation = document.paths[path]?.[method.toLowerCase()] as unknown as Operation
    const examples = Object.values(
      operation.requestBody?.content['application/json']?.examples ?? { none: undefined },
    )
    // Which operation it is, and so what its body is, the compiler cannot know in this loop.
    const given = (example: Example | undefined) => ({ ids, body: example?.value }) as never
    for (const [status, { content }] of Object.entries(operation.responses)) {
      for (const { summary, value } of Object.values(content['application/json'].examples)) {
        const asked: Request[] = []
        server.resetHandlers(handlerOf(name, Number(status), value, asked))
        // An answer is met once by each documented request.
        for (const example of Number(status) < 300 ? examples : examples.slice(0, 1)) {
          met++
          const what = `${name} ${status} ${summary}`
          const outcome = await ask(posthorn, given(example)).then(
            (result) => ({ result }),
            (error: unknown) => ({ error }),
          )
          if (Number(status) < 300) {
            const wanted = field === undefined ? value : (value as Record<string, unknown>)[field]
            t.same(outcome, { result: wanted }, what)
          } else {
            const { error } = outcome as { error: PosthornError }
            if (!isPosthornError(error)) throw error
            const { code = 'validation_error', error: message } = value as Record<string, string>
            const { cause } = error as { cause?: PosthornError }
            t.match(
              { code: error.code, status: error.status },
              { code, status: Number(status) },
              what,
            )
            t.same(error.body, value, `${what}: the body`)
            t.ok(error.name !== 'PosthornError' || cause !== undefined, `${what}: ${error.name}`)
            if (typeof message === 'string') t.ok(error.message.endsWith(message))
          }
        }
        const left = [...ids]
        const wanted = path.replace(/\{(\w+)\}/g, (_, parameter) =>
          parameter === 'number' ? '1' : (left.shift() ?? ''),
        )
        const [request] = asked
        t.equal(new URL(request?.url ?? '').pathname, wanted, `${name} asks for its path`)
        const [first] = examples
        if (first !== undefined)
          t.same(await request?.json(), first.value, `${name} sends its body`)
      }
    }
  }
  t.ok(met > 400, `${met} documented cases were met`)
})
