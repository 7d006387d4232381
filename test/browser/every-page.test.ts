// Every page of the dashboard, as it is seen; without --thorough one for each place, as its owner or operator sees it.
// `SCREENSHOTS=dir` leaves the pictures, ONLY=text visits those whose path or name has it. Each place lists its
// pages in a file of pages/.
import t from 'tap'
import { addedRoutes } from '../dashboard/added-routes.js'
import { inTurn, isThorough } from '../support/thorough.js'
import { missing } from '../support/tools.js'
import {
  faultsOfPage,
  openContexts,
  personas,
  placePages,
  startWorld,
  type VisitedPage,
} from './every-page.js'
import { launch } from './open.js'

// A hundred pages and more, each in several widths.
t.setTimeout(900_000)

// One processor draws while another looks.
const atOnce = 3
const only = process.env.ONLY ?? ''

// Not pages for people to read, or seen with a log-in that has only begun (journeys-people.test.ts).
const notLookedAt = [
  '/live',
  '/login/provider',
  '/login/provider/back',
  '/sudo/provider',
  '/a/:account/settings/logo',
  '/login/code',
  '/a/:account/suppression.csv',
  '/a/:account/lists/:id/contacts.csv',
  '/a/:account/contacts/import/:id/refused.csv',
  '/a/:account/contacts/import/:id/no-mail.csv',
  '/a/:account/contacts/contacts.csv',
  '/a/:account/segments/:id/contacts.csv',
  '/a/:account/campaigns/:id/report/people.csv',
  '/a/:account/campaigns/:id/report/mail/html',
  '/a/:account/forms/:id/qr',
  '/a/:account/brand/confirmation',
  '/a/:account/brand/footer',
  '/a/:account/brand/form',
  '/a/:account/pictures/:id/file',
  '/a/:account/campaigns/:id/html',
  '/a/:account/received/:id/html',
  '/a/:account/received/:id/source',
  '/a/:account/received/:id/files/:number',
  '/a/:account/automations/mail/:frame',
  '/a/:account/automations/picture/:slug',
  '/a/:account/contacts/:id/everything.zip',
  '/a/:account/contacts/data/everything.zip',
  '/a/:account/topics/-/centre',
  '/a/:account/emails.csv',
  ...['html', 'text', 'json'].map((form) => `/a/:account/emails/:id/${form}`),
  '/a/:account/emails/:id/deliveries/:delivery',
  ...['html', 'source', 'download'].map((form) => `/a/:account/inbox/:id/${form}`),
  '/a/:account/inbox/:id/attachments/:index',
  '/a/:account/templates/-/rendered/:id',
  '/operator/inbound/:id/source',
  '/operator/parked/:id/source',
]

t.test(
  'every page can be read and used, by everybody',
  { skip: missing('chromium') },
  async (t) => {
    const world = await startWorld(t)
    const places = await placePages()
    for (const { fill } of places) await fill?.(world)
    const listed = places.map(({ pages }) => pages(world))
    if (only === '') t.same(unlisted(listed.flat()), [])
    const wanted = listed
      .flatMap((pages) => {
        if (only !== '') return pages
        return isThorough ? inTurn(pages) : pages.filter(isUsual).slice(0, 1)
      })
      .filter(({ path, name = '' }) => `${path} ${name}`.includes(only))
    const browser = await launch(t)
    const visited: VisitedPage[] = []
    for (const as of [undefined, ...personas]) {
      const waiting = wanted.filter((page) => page.as === as)
      if (waiting.length === 0) continue
      const contexts = await openContexts(browser, world, as)
      const visitor = async () => {
        for (let page = waiting.shift(); page !== undefined; page = waiting.shift()) {
          t.same(await faultsOfPage(contexts, world, page), [], `${page.path} as ${as ?? 'nobody'}`)
          visited.push(page)
        }
      }
      await Promise.all(Array.from({ length: atOnce }, visitor))
      await Promise.all([contexts.scripted.close(), contexts.bare.close()])
    }
    t.equal(visited.length, wanted.length)
  },
)

const isUsual = ({ as, status = 200 }: VisitedPage) =>
  status === 200 && (as === 'owner' || as === 'operator')

/** The pages that no file of pages/ lists. */
function unlisted(listed: readonly VisitedPage[]): string[] {
  const paths = listed.flatMap(({ path, status = 200 }) =>
    status === 200 ? new URL(path, 'http://host').pathname : [],
  )
  return addedRoutes()
    .filter(({ method, path }) => method === 'GET' && !notLookedAt.includes(path))
    .map(({ path }) => path)
    .filter((path) => {
      const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`)
      return !paths.some((one) => pattern.test(one))
    })
}
