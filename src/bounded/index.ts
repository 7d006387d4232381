export { someAtOnce } from './some-at-once.js'

/**
 * Sets an entry as the newest of a map and removes the oldest ones while there are more than `most`. So what
 * strangers can fill (by addresses, names, ids) stays small. A reader that does the same makes the map forget
 * what was used longest ago, and without that what was set longest ago.
 */
export function keepNewest<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  // A map is iterated in the order in which keys were added, which a second `set` does not change.
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= most) return
    map.delete(oldest)
  }
}
