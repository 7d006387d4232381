import { existsSync, readFileSync } from 'node:fs'
import { packageFile, packageVersion } from '../config/index.js'
import { servePublic } from '../contract/index.js'
import type { Api, Pages } from '../http/index.js'
import { getOpenApi } from './contract.js'
import type { Document } from './document.js'

// Browsers run a module only with this type.
const javascript = 'text/javascript; charset=utf-8'

/**
 * `GET /v1/openapi.json` and the clients. `operator`: the operator's API if it is switched on; the served document has
 * it, but not the one for accounts' pages. Returns a function that gives the document of what accounts' keys may do,
 * for the routes that exist by then. The document and its text, of a quarter of a megabyte, are loaded on demand, as
 * most appliances never need them.
 */
export function openApiRoutes<P>(
  { api, pages }: { api: Api<P>; pages: Pages },
  operator?: Pick<Api<never>, 'routes'>,
): () => Promise<Document> {
  const ofAccounts = remade(({ makeDocument }) => makeDocument(api.routes, packageVersion()))
  const ofAll = remade(({ makeDocument, withOperatorApi }) =>
    makeDocument([...api.routes, ...(operator?.routes ?? [])], packageVersion(), withOperatorApi()),
  )
  servePublic(api, getOpenApi, operator === undefined ? ofAccounts : ofAll)
  clientLibrary(pages)
  otherClients(pages, packageVersion())
  return ofAccounts
}

/** Makes a document on demand, and again if it was garbage-collected meanwhile. */
function remade(make: (tools: typeof import('./document.js')) => Document) {
  let known: WeakRef<Document> | undefined
  return async (): Promise<Document> => {
    const tools = await import('./document.js')
    const document = known?.deref() ?? make(tools)
    known = new WeakRef(document)
    return document
  }
}

/** Serves the client library that fits this version, if `npm run build` has packed it. */
function clientLibrary(pages: Pages): void {
  for (const [name, contentType] of [
    ['posthorn-client.tgz', 'application/gzip'],
    ['client.js', javascript],
    ['client.d.ts', 'text/plain; charset=utf-8'],
  ] as const) {
    serveBuilt(pages, `client/${name}`, contentType)
  }
}

const plain = 'text/plain; charset=utf-8'
const zip = 'application/zip'

/** Serves the clients in other languages, as files and as packages for pip, Composer and Go. */
function otherClients(pages: Pages, version: string): void {
  // The paths of Go's protocol for modules (https://go.dev/ref/mod#goproxy-protocol).
  const go = 'go/posthorn.internal/client/@v'
  for (const [name, contentType] of [
    ['posthorn.py', plain],
    ['posthorn.php', plain],
    ['posthorn.go', plain],
    [`posthorn_client-${version}-py3-none-any.whl`, zip],
    ['posthorn-client-php.zip', zip],
    [`${go}/list`, plain],
    [`${go}/v${version}.info`, 'application/json'],
    [`${go}/v${version}.mod`, plain],
    [`${go}/v${version}.zip`, zip],
  ] as const) {
    serveBuilt(pages, `clients/${name}`, contentType)
  }
}

/** Serves a file of the build, if it exists. */
function serveBuilt(pages: Pages, path: string, contentType: string): void {
  const file = packageFile(`dist/${path}`)
  if (existsSync(file)) pages.file(`/${path}`, { read: () => readFileSync(file), contentType })
  else {
    // Only tsc was run, as during work on Posthorn itself.
    const text = 'The clients are not built here: run npm run build and start again\n'
    pages.get(`/${path}`, () => ({ status: 404, text }))
  }
}
