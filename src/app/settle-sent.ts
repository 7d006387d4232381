import { isSentLately, settleAnew } from '../deliveries/index.js'
import type { Log } from '../log/index.js'
import { readLatelyNotes, removeLatelyNotes } from '../nodes/index.js'

type SettleDeps = Parameters<typeof settleAnew>[0] & { log: Log; dataDir: string }

/** Before anything is sent: settles what the threads of the last start have sent, and forgets that. */
export async function settleSentBefore(deps: SettleDeps): Promise<void> {
  await settleSent(deps)
  removeLatelyNotes(deps.dataDir)
}

/**
 * Settles mail that this node's threads know they have sent, and that is in the queue again because the database went
 * back in time: it ends as it did then. The queue of any other database has no such mail.
 */
export async function settleSent(ground: SettleDeps): Promise<void> {
  const { log, dataDir } = ground
  const sent = readLatelyNotes(dataDir).filter(isSentLately)
  if (sent.length > 0) {
    const { settled, faults } = await settleAnew(ground, sent)
    if (settled > 0) {
      log.warn(
        { deliveries: settled },
        'The database had forgotten that these were sent: they are settled anew, and not sent again',
      )
    }
    if (faults > 0) {
      log.error(
        { deliveries: faults },
        'Sent mail that the database has forgotten cannot be settled',
      )
    }
  }
}
