import { existsSync } from 'node:fs'
import { packageFile } from '../../config/index.js'
import { ApiError } from '../../errors/index.js'
import type { Pages } from '../../http/index.js'
import type { Document } from '../../openapi/index.js'
import { ownUrl } from '../own-url.js'
import { page } from '../shell/answer.js'
import type { OpenPages } from '../shell/page.js'
import { staticPath, staticRoutes } from '../shell/static-files.js'
import type { AskedPage } from '../shell/visit.js'
import { type ExampleDeps, exampleDomain } from './example.js'
import { markdown } from './markdown.js'
import { type Listed, listOperations, operationView } from './operation.js'

/** What the API's reference needs. */
export interface ReferenceDeps extends ExampleDeps {
  /** The description of the present routes, made when it is first asked for. */
  document: () => Promise<Document>
}

/** How to get the clients in other languages. */
const clientsAt = (own: string, version: string) => [
  {
    language: 'Python',
    get: `pip install ${own}/clients/posthorn_client-${version}-py3-none-any.whl`,
  },
  { language: 'PHP', get: `curl -O ${own}/clients/posthorn.php` },
  {
    language: 'Go',
    get: `GOPROXY=${own}/clients/go GONOSUMDB='*' GOFLAGS=-mod=mod go get posthorn.internal/client`,
  },
]

/** The API for people: a page for each request and webhook, made from the document for machines. */
export function referencePages(open: OpenPages, pages: Pages, deps: ReferenceDeps): void {
  staticRoutes(pages, ['reference.js'])
  let operations: Listed[] | undefined
  const all = async () => {
    // The document is the same for as long as the process runs.
    operations ??= listOperations(await deps.document())
    return operations
  }
  // Only a build makes the client's package.
  const hasClient = existsSync(packageFile('dist/client/posthorn-client.tgz'))
  const hasClients = existsSync(packageFile('dist/clients/posthorn.py'))

  // Needs no log-in, like the document itself (`/v1/openapi.json`).
  open.get('/reference', 'open', async ({ request }: AskedPage) => {
    const { info, tags } = await deps.document()
    const listed = await all()
    const own = ownUrl(request)
    const view = {
      tags: (tags as { name: string }[]).map(({ name }) => ({
        name,
        operations: listed.filter(({ tag }) => tag === name),
      })),
      intro: markdown(String(info.description)),
      version: String(info.version),
      install: hasClient ? `npm install ${own}/client/posthorn-client.tgz` : undefined,
      clients: hasClients ? clientsAt(own, String(info.version)) : [],
      domain: await exampleDomain(deps, request),
    }
    return page('reference/list', view, { title: 'API reference' })
  })

  open.get('/reference/:operation', 'open', async ({ params, request, now }: AskedPage) => {
    const listed = await all()
    const found = listed.find(({ id }) => id === params.operation)
    if (found === undefined)
      throw new ApiError('not_found', 'The API has no operation with this name')
    const domain = await exampleDomain(deps, request)
    const view = {
      ...operationView(await deps.document(), found, {
        domain,
        now,
        own: ownUrl(request),
      }),
      domain,
      script: staticPath('reference.js'),
      nearby: listed.filter(({ tag }) => tag === found.tag),
      tags: [...new Set(listed.map(({ tag }) => tag))].map((name) => ({
        name,
        here: name === found.tag,
        first: listed.find(({ tag }) => tag === name)?.id ?? '',
      })),
    }
    return page('reference/operation', view, { title: found.summary })
  })
}
