import type { JobRun } from './runs.js'

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** `every day at 04:50 UTC`; an expression that has no short words stays as it is. */
export function scheduleInWords(cron: string | null, zone: string): string {
  if (cron === null) return 'off'
  const [, minutesOf = '', step = ''] =
    /^(\d{1,2}(?:,\d{1,2})*) \*(?:\/(\d{1,2}))? \* \* \*$/.exec(cron) ?? []
  if (minutesOf !== '') {
    const at = minutesOf.split(',').map((one) => `:${one.padStart(2, '0')}`)
    if (step === '' || step === '1') return `every hour at ${at.join(' ')}`
    // Other steps leave a shorter rest at the end of the day.
    if (24 % Number(step) === 0) return `every ${step} hours at ${at.join(' ')} ${zone}`
  }
  const [, minute = '', hour = '', day, weekday = ''] =
    /^(\d{1,2}) (\d{1,2}) (\*|\d{1,2}) \* (\*|\d)$/.exec(cron) ?? []
  const minutes = minute.padStart(2, '0')
  if (minute === '') return `${cron} ${zone}`
  const time = `at ${hour.padStart(2, '0')}:${minutes} ${zone}`
  if (day === '*' && weekday === '*') return `every day ${time}`
  if (day === '*') return `every ${weekdays[Number(weekday) % 7]} ${time}`
  return weekday === '*' ? `on day ${day} of the month ${time}` : `${cron} ${zone}`
}

/** `3.4 s`, `12 min`, `2.5 h`; a dash while it is under way. */
export function shownDuration(run: JobRun | undefined): string {
  if (run?.endedAt == null) return '-'
  const seconds = Math.max(0, run.endedAt - run.beganAt) / 1_000
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`
}
