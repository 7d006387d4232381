import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { packageFile, packageVersion } from '../config/index.js'
import type { Api, Pages } from '../http/index.js'
import { makeDocument } from './document.js'

const css = 'text/css; charset=utf-8'
const javascript = 'text/javascript; charset=utf-8'

// Its style sheet draws arrows and locks from data: URLs; everything else is ours.
const headers = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}

/**
 * `GET /v1/openapi.json`, the page `/reference` and the client library. Goes last: it describes the routes
 * before it.
 */
export function openApiRoutes<P>(
  { api, pages }: { api: Api<P>; pages: Pages },
  { whenAsked = false }: { whenAsked?: boolean | undefined } = {},
): void {
  const path = '/v1/openapi.json'
  let document: unknown
  const make = () => {
    document ??= makeDocument(api.routes, packageVersion())
    return document
  }
  api.get(path, { auth: false }, make)
  // A start without it is quicker; else a route that is not described stops the start.
  if (!whenAsked) make()

  const own = packageFile('src/openapi/static')
  const swagger = join(createRequire(import.meta.url).resolve('swagger-ui-dist'), '..')
  for (const [folder, name, contentType] of [
    [own, 'reference.css', css],
    [own, 'reference.js', javascript],
    [swagger, 'swagger-ui.css', css],
    [swagger, 'swagger-ui-bundle.js', javascript],
  ] as const) {
    const bytes = readFileSync(join(folder, name))
    pages.file(`/reference/${name}`, { bytes, contentType })
  }
  const page = readFileSync(join(own, 'reference.html'), 'utf8')
  const html = hasClient(pages) ? page : page.replace(/<p class="install">.*<\/p>\n/, '')
  pages.get('/reference', () => ({ html, headers }))
}

/** Serves the client library that fits this version, as `npm run build` has packed it, if it has. */
function hasClient(pages: Pages): boolean {
  let isThere = true
  for (const [name, contentType] of [
    ['posthorn-client.tgz', 'application/gzip'],
    ['client.js', javascript],
    ['client.d.ts', 'text/plain; charset=utf-8'],
  ] as const) {
    const file = packageFile(`dist/client/${name}`)
    const path = `/client/${name}`
    if (existsSync(file)) pages.file(path, { bytes: readFileSync(file), contentType })
    else {
      isThere = false
      // Only tsc was run, as while Posthorn itself is being worked on.
      const text = 'The client library is not built here: run npm run build and start again\n'
      pages.get(path, () => ({ status: 404, text }))
    }
  }
  return isThere
}
