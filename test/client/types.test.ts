import { readFileSync } from 'node:fs'
import t from 'tap'
import { type Document, makeClientTypes } from '../../src/openapi/index.js'
import { startPosthorn } from '../support/posthorn.js'
import { methods } from './methods.js'

t.test('the types are those of the document that this build serves', async (t) => {
  const { url } = await startPosthorn(t)
  const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as Document
  t.ok(
    readFileSync('src/client/types.ts', 'utf8') === makeClientTypes(document),
    'src/client/types.ts is up to date; npm run client-types writes it',
  )
  const operations = Object.entries(document.paths).flatMap(([path, known]) =>
    Object.keys(known).map((method) => `${method.toUpperCase()} ${path}`),
  )
  t.same(Object.keys(methods).sort(), operations.sort(), 'each operation has one method')
})
