import { systemClock as clock } from '../../../src/clock/index.js'
import { silentLog } from '../../../src/log/index.js'
import { createSegment, keepSegments } from '../../../src/segments/index.js'
import type { PlacePages } from '../every-page.js'

const long = 'wolfeschlegelsteinhausenbergerdorff'

/** Segments with the longest rules and names that they may have. */
export const place: PlacePages = {
  async fill({ store, accountId, ids }) {
    const deps = { store, clock }
    const is = (field: string, value: string) => ({
      field,
      operator: 'eq' as const,
      value,
      ignoreCase: true as const,
    })
    const two = [is('contact.firstName', 'Ann'), is('contact.metadata.town', long.repeat(5))]
    const rule = { all: [is('contact.firstName', 'Ann'), { any: two }] }
    const one = await createSegment(deps, accountId, { name: `${long} `.repeat(2), rule })
    const mailable = { field: 'mailable', operator: 'eq', value: true } as const
    const deep = { not: { not: mailable } }
    const other = await createSegment(deps, accountId, { name: 'By the API', rule: deep })
    Object.assign(ids, { segment: one.id, deepSegment: other.id })
    await keepSegments({ ...deps, log: silentLog }, new AbortController().signal)
  },
  pages: ({ full, empty, ids }) => [
    { path: `${full}/segments`, as: 'owner', name: 'segments' },
    { path: `${empty}/segments`, as: 'empty', name: 'segments-empty' },
    { path: `${full}/segments/new`, as: 'owner', name: 'segments-new' },
    { path: `${full}/segments/${ids.segment}`, as: 'owner', name: 'segments-one' },
    { path: `${full}/segments/${ids.segment}`, as: 'viewer', name: 'segments-one-viewer' },
    { path: `${full}/segments/${ids.segment}/edit`, as: 'owner', name: 'segments-edit' },
    { path: `${full}/segments/${ids.deepSegment}/edit`, as: 'owner', name: 'segments-edit-deep' },
  ],
}
