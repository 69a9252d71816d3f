import { rm } from 'node:fs/promises'
import { join } from 'node:path'

/** What work makes of each item, several at once, in the order of the items. */
export async function eachOf(items, atOnce, work) {
  const out = []
  let next = 0
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (next < items.length) {
      const n = next++
      out[n] = await work(items[n], n)
    }
  }))
  return out
}

/** Has each item judged in a home of its own, prints the faults, and counts: { passed, failed }. */
export async function judgeEach(items, atOnce, scratch, keep, judge) {
  const count = { passed: 0, failed: 0 }
  await eachOf(items, atOnce, async (item, n) => {
    const home = join(scratch, 'homes', String(n).padStart(4, '0'))
    const faults = await judge(item, home).catch(error => [`no verdict: ${error.stack}`])
    count[faults.length === 0 ? 'passed' : 'failed'] += 1
    for (const fault of faults) console.log(`FAIL ${item.name}: ${fault}`)
    if (!keep) await rm(home, { recursive: true, force: true })
  })
  return count
}
