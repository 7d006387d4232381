import type { FirstPace } from '../../outbound/index.js'
import type { OperatorPageDeps } from '../operator/deps.js'

/** How fast mails may leave before any has, by the files and settings that are in force. */
export const makeFirstPace =
  ({ store: { read }, clock, config, shapingFiles }: Paced) =>
  async (shares: ReadonlyMap<string, number>): Promise<FirstPace> => {
    // Loaded here and not at the start: all of `outbound` comes along, which costs the main thread memory.
    const { firstPace, loadReadableShaping } = await import('../../outbound/index.js')
    const { data } = loadReadableShaping(shapingFiles())
    return await firstPace({ read, now: clock.now(), data, config }, shares)
  }

type Paced = Pick<OperatorPageDeps, 'store' | 'clock' | 'config' | 'shapingFiles'>
