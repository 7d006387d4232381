// Fetches the page again every few seconds while it is looked at, and puts the parts marked
// data-refresh in place of the old ones. The page is whole without it.
const everyMs = 3000

async function refresh() {
  if (document.hidden) return
  const response = await fetch(location.href, { headers: { Accept: 'text/html' } })
  if (!response.ok) return
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
  for (const part of document.querySelectorAll('[data-refresh]')) {
    const other = fresh.getElementById(part.id)
    if (other === null || other.outerHTML === part.outerHTML) continue
    const focused = part.contains(document.activeElement)
      ? document.activeElement.getAttribute('href')
      : null
    part.replaceWith(other)
    if (focused !== null) other.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus()
  }
}

async function keepRefreshing() {
  // Offline or restarting: the next round tries again.
  await refresh().catch(() => {})
  if (document.querySelector('[data-refresh]') !== null) setTimeout(keepRefreshing, everyMs)
}

setTimeout(keepRefreshing, everyMs)
document.addEventListener('visibilitychange', () => void refresh().catch(() => {}))
