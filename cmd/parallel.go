package cmd

import (
	"context"
	"sync"
)

// inOrder runs work for n items, jobs at once, and hands the results to done in order.
func inOrder[T any](ctx context.Context, n, jobs int, work func(i int) T, done func(i int, v T)) {
	results := make([]T, n)
	ready := make([]chan struct{}, n)
	for i := range ready {
		ready[i] = make(chan struct{})
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(jobs, n) {
		wg.Go(func() {
			for i := range next {
				results[i] = work(i)
				close(ready[i])
			}
		})
	}
	go func() {
		defer close(next)
		for i := range n {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	for i := range n {
		select {
		case <-ready[i]:
			done(i, results[i])
			var zero T
			results[i] = zero
		case <-ctx.Done():
			wg.Wait()
			return
		}
	}
	wg.Wait()
}
