/** Work on all items, some at once. */
export async function eachOf(items, atOnce, work) {
  let next = 0
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (next < items.length) {
      const n = next++
      await work(items[n], n)
    }
  }))
}
