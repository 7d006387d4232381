import { checked } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import { jsonPage, type Page, type PageRequest, type Pages } from '../http/index.js'
import type { Store } from '../store/index.js'
import * as operations from './contract.js'
import type { FormDesk } from './desk.js'
import { formById, type SignupForm } from './form.js'
import { takeSubmission } from './submission.js'

// WHATWG Fetch §3.2: what a browser asks before it sends JSON to another site. No cookie is sent along; which pages may
// send is checked when they do.
const preflight = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Allow-Headers': 'Content-Type',
  'Access-Control-Max-Age': '86400',
}

/**
 * What the public listener answers without a key where the form is `open`: `submissions`, and the work that it asks
 * for.
 */
export function openSubmissions(
  pages: Pages,
  { store: { read } }: { store: Store },
  deskOf: () => FormDesk,
): void {
  const asJson = { 'Access-Control-Allow-Origin': '*' }
  const formOf = async (request: PageRequest): Promise<SignupForm> => {
    const form = await formById(read, request.params.id ?? '')
    if (form?.settings.api === 'open' && form.archivedAt === null) return form
    throw new ApiError('not_found', 'There is no form here that takes this without a key')
  }
  const work = async (request: PageRequest): Promise<Page> => {
    const form = await formOf(request)
    const headers = ofOrigin(allowedOrigin(form, request))
    const contentType = 'application/json; charset=utf-8'
    return { text: JSON.stringify(deskOf().work(form)), contentType, headers }
  }
  pages.get('/v1/forms/:id/work', work, { asJson })
  const shape = { crossSite: true, raw: true, preflight, asJson } as const
  pages.post('/v1/forms/:id/submissions', shape, async (request) => {
    let allowed = '*'
    return await jsonPage(
      request,
      async (given) => {
        const form = await formOf(request)
        allowed = allowedOrigin(form, request)
        const body = checked(operations.submitForm, given)
        const page = firstPage([body.page, request.header('referer'), request.header('origin')])
        // A client without a key is not believed when it names the visitor's address.
        const { remoteAddress } = request
        const taken = await takeSubmission(deskOf(), form, { ...body, page }, remoteAddress)
        return { status: 202, body: taken }
      },
      () => ofOrigin(allowed),
    )
  })
}

const ofOrigin = (allowed: string) => ({ 'Access-Control-Allow-Origin': allowed, Vary: 'Origin' })

/** Where the form was sent from, for the consent record: the first text that can be a page. Nobody vouches for it. */
export const firstPage = (named: readonly (string | undefined)[]): string =>
  (named.find((one) => one !== undefined && isWeb(one)) ?? '').slice(0, 300)

function isWeb(text: string): boolean {
  const protocol = URL.canParse(text) ? new URL(text).protocol : ''
  return protocol === 'https:' || protocol === 'http:'
}

/** The page that may read the answer. Throws a 403 for a page that the form does not name; programs send no origin. */
function allowedOrigin({ settings }: SignupForm, request: PageRequest): string {
  const origin = request.header('origin')
  if (settings.origins.length === 0 || origin === undefined) return '*'
  if (settings.origins.includes(origin)) return origin
  throw new ApiError('forbidden', `The form does not take what ${origin} sends`)
}
