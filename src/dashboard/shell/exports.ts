import { ApiError } from '../../errors/index.js'

const mostOfPerson = 2
const mostInAll = 4

/** Seats for requests that read a whole list out of the database. */
export interface ExportSeats {
  /**
   * Takes a seat until `signal` aborts, when the client has everything or has gone. Throws a 503 while no seat is
   * free.
   */
  take(personId: string, signal: AbortSignal): void
}

/**
 * The seats of one process: two for a person and four in all, because each export keeps reading the database that
 * mail is written to.
 */
export function makeExportSeats(): ExportSeats {
  const taken = new Map<AbortSignal, string>()
  return {
    take(personId, signal) {
      const own = [...taken.values()].filter((one) => one === personId).length
      if (own >= mostOfPerson || taken.size >= mostInAll) {
        const message =
          'Too many lists are being exported at once: try again when one of them is done'
        throw new ApiError('service_unavailable', message, { headers: { 'Retry-After': '10' } })
      }
      // The client has gone already: nothing would ever give the seat back.
      if (signal.aborted) return
      taken.set(signal, personId)
      signal.addEventListener('abort', () => taken.delete(signal), { once: true })
    },
  }
}
