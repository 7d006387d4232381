import type { PlacePages } from '../every-page.js'

export const place: PlacePages = {
  pages: ({ full }) => [
    { path: '/' },
    { path: '/', as: 'owner', name: 'front-owner' },
    { path: `${full}/no-such-page`, as: 'owner', status: 404, name: 'not-found' },
    { path: `${full}/keys/a/b/c`, as: 'owner', status: 404, name: 'not-found-deep' },
    { path: '/sandbox' },
  ],
}
