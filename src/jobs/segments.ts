import { inJobThread } from '../app/job.js'
import {
  makeDateKeeper,
  makeFollowSegments,
  makeLiveLimit,
  makeVersions,
} from '../automations/index.js'
import { stayWithSegments } from '../segments/index.js'

// Keeps who is in which segment up to date. It is started when a contact has changed or a segment is made. It stays for
// a minute after the last change, as changes come in bursts, and then ends, so that its memory is given back. Contacts
// who come in or leave, and their dates, may start automations; what looks for those is made here, because `segments`
// may not import `automations`.
await inJobThread('segments', ({ data, store, clock, log, signal, rest }) => {
  const limit = makeLiveLimit(data.config.automations.maxLiveRuns)
  const follow = makeFollowSegments(makeVersions(), limit)
  const dates = makeDateKeeper({ store, clock, log, versions: makeVersions(), isFull: limit })
  return stayWithSegments({ store, clock, log, follow, dates }, signal, rest)
})
