import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { Posthorn } from '../../src/client/index.js'
import { type Document, makeClientTypes } from '../../src/openapi/index.js'
import { startPosthorn } from '../support/posthorn.js'
import { makeTempDir } from '../support/store.js'
import { methods } from './methods.js'

t.test('the types are those of the document that this build serves', async (t) => {
  const { url } = await startPosthorn(t)
  const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as Document
  t.ok(
    readFileSync('src/client/types.ts', 'utf8') === makeClientTypes(document),
    'src/client/types.ts, which the build made of the descriptions alone',
  )
  const operations = Object.entries(document.paths).flatMap(([path, known]) =>
    Object.keys(known).map((method) => `${method.toUpperCase()} ${path}`),
  )
  t.same(Object.keys(methods).sort(), operations.sort(), 'each operation has one method')
})

t.test('the README names each method', async (t) => {
  const posthorn = new Posthorn({ url: 'http://posthorn.test', apiKey: 'ph_x' })
  const namesOf = (of: object): string[] =>
    Object.entries(of).flatMap(([name, one]) =>
      typeof one === 'object' ? namesOf(one).map((own) => `${name}.${own}`) : [name],
    )
  const rows = readFileSync('src/client/README.md', 'utf8').matchAll(/^\| `(\w+)` \| (`.+) \|$/gm)
  const named = [...rows].flatMap(([, group, cell = '']) =>
    [...cell.matchAll(/`([\w.]+)`/g)].map(([, name]) => `${group}.${name}`),
  )
  const apart = ['plans.list']
  t.same([...named, ...apart].sort(), namesOf(posthorn).sort())
})

interface Examples {
  examples?: Record<string, { value: unknown }>
}
interface Operation {
  requestBody?: { content: Record<string, Examples> }
  responses: Record<string, { content: Record<string, Examples> }>
}

t.test('every documented request and answer compiles', async (t) => {
  const { url } = await startPosthorn(t)
  const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as Document
  const lines: string[] = []
  const add = (type: string, content: Record<string, Examples> = {}) => {
    for (const { value } of Object.values(content['application/json']?.examples ?? {})) {
      lines.push(`export const _${lines.length}: ${type} = ${JSON.stringify(value)}`)
    }
  }
  for (const [path, known] of Object.entries(document.paths)) {
    for (const [method, described] of Object.entries(known)) {
      const { requestBody, responses } = described as unknown as Operation
      const operation = `Operations['${method.toUpperCase()} ${path}']`
      add(`${operation}['body']`, requestBody?.content)
      for (const [status, { content }] of Object.entries(responses)) {
        if (status.startsWith('2')) add(`${operation}['answer']`, content)
      }
    }
  }
  t.ok(lines.length > 80, `${lines.length} examples`)
  const file = join(makeTempDir(t), 'examples.ts')
  const types = resolve('src/client/types.ts').replace(/\.ts$/, '.js')
  writeFileSync(file, [`import type { Operations } from '${types}'`, ...lines].join('\n'))
  const tsc = ['node_modules/typescript/bin/tsc', '--noEmit', '--strict', '--ignoreConfig']
  const options = ['--module', 'nodenext', '--target', 'es2022', '--exactOptionalPropertyTypes']
  const { stdout } = spawnSync(process.execPath, [...tsc, ...options, file], { encoding: 'utf8' })
  t.equal(stdout, '')
})
