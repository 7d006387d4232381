import type { Pages } from '../http/index.js'
import type { Read } from '../store/index.js'
import type { Renderer } from '../templates/index.js'
import { type OwnViewDeps, ownView, type ViewedCopy } from './own-view.js'
import { publicPages } from './public-pages.js'
import { makeShelf } from './shelf.js'

export type { ViewedCopy } from './own-view.js'

/** What the pages need, once the appliance has started. */
export interface ArchiveTools {
  renderer: Renderer
  viewedCopy: ViewedCopy
}

export interface ArchiveDeps extends Pick<OwnViewDeps, 'viewLinks'> {
  store: { read: Read }
  publicUrl: () => string
  /** Undefined while the appliance starts. */
  tools: () => ArchiveTools | undefined
}

/** Past campaigns, for the public listener. */
export function archiveRoutes(pages: Pages, deps: ArchiveDeps): void {
  const { viewLinks, publicUrl, tools } = deps
  const { read } = deps.store
  const shelf = makeShelf({ read, renderer: () => tools()?.renderer })
  publicPages(pages, { read, shelf, publicUrl })
  ownView(pages, { read, viewLinks, viewedCopy: () => tools()?.viewedCopy })
}
