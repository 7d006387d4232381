import { logoById } from '../accounts/index.js'
import type { Pages } from '../http/index.js'
import { styleSheet } from './alone.js'
import { centrePage } from './centre-page.js'
import { coloursSheet } from './colours.js'
import { type UnsubscribePageDeps, unsubscribePage } from './unsubscribe-page.js'
import { deadLink } from './view.js'

export { sampleCentre } from './centre-page.js'

export type PreferenceDeps = UnsubscribePageDeps

// Somebody else's bytes must do nothing, even when they are opened by themselves.
const logoHeaders = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'private, max-age=86400',
  'X-Robots-Tag': 'noindex',
}

/** The pages behind the links of a marketing mail, for the public listener. */
export function preferenceRoutes(pages: Pages, deps: PreferenceDeps): void {
  pages.file('/preferences.css', { read: styleSheet, contentType: 'text/css; charset=utf-8' })
  pages.get('/logo/:id', async (request) => {
    const logo = await logoById(deps.store.read, request.params.id ?? '')
    return logo === undefined ? deadLink(request) : { ...logo, headers: logoHeaders }
  })
  pages.get('/colours/:colours', (request) => {
    const text = coloursSheet(request.params.colours ?? '')
    const headers = { 'Cache-Control': 'public, max-age=86400' }
    return text === undefined
      ? deadLink(request)
      : { text, contentType: 'text/css; charset=utf-8', headers }
  })
  unsubscribePage(pages, deps)
  centrePage(pages, deps)
  // A link that was cut off leaves one of these paths.
  for (const path of ['/unsubscribe', '/unsubscribe/', '/preferences', '/preferences/']) {
    pages.get(path, deadLink)
  }
}
