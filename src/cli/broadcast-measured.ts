import { shownCount } from '../amounts/index.js'
import { usualTracking } from '../config/index.js'
import { type CommandPlace, settingsOf } from './place.js'

/** What is tracked where neither account nor domain says it, for commands that tell what people did with mail, or would do. */
export const measuring = (place: CommandPlace) => ({ tracking: usualTracking(settingsOf(place)) })

/** How many did something and which part that is (%), or that nobody knows. */
export const measuredShare = (why: string | null, count: number, percent: number): string =>
  why === null ? `${shownCount(count)} (${percent} %)` : '-'
