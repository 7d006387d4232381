import type { Pages } from '../http/index.js'
import type { DashboardDeps } from './deps.js'
import { homeView } from './home.js'
import { sandboxRoutes } from './sandbox-routes.js'
import { render, staticFile } from './views.js'

const files = [
  ['posthorn.css', 'text/css; charset=utf-8'],
  ['refresh.js', 'text/javascript; charset=utf-8'],
  ['icon.svg', 'image/svg+xml'],
] as const

/** Adds the front page, the static files and, in sandbox mode, the inbox. */
export function dashboardRoutes(pages: Pages, deps: DashboardDeps): void {
  for (const [name, contentType] of files) {
    pages.file(`/static/${name}`, { bytes: staticFile(name), contentType })
  }
  pages.get('/', async () => ({ html: render('home', await homeView(deps)) }))
  if (deps.sandbox) sandboxRoutes(pages, deps)
}
