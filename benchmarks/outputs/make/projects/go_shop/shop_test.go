package shop

import (
	"fmt"
	"testing"
)

func TestTotal(t *testing.T) {
	for count := 0; count < 25; count++ {
		t.Run(fmt.Sprintf("%d_items", count), func(t *testing.T) {
			if got := Total([]Order{{1, "SKU-1", count, 250}}); got != 250*count {
				t.Errorf("Total of %d items = %d, want %d", count, got, 250*count)
			}
		})
	}
}

func TestShipping(t *testing.T) {
	for grams, want := range map[int]int{200: 450, 1000: 450, 1001: 790, 5000: 790, 5001: 1400, 20000: 1400, 20001: 2000, 30000: 2000, 45000: 3200} {
		t.Run(fmt.Sprintf("%d_grams", grams), func(t *testing.T) {
			t.Logf("price of %d grams", grams)
			if got := Shipping(grams); got != want {
				t.Errorf("Shipping(%d) = %d, want %d", grams, got, want)
			}
		})
	}
}

func TestParseOrder(t *testing.T) {
	for id := 1; id <= 60; id++ {
		t.Run(fmt.Sprintf("order_%d", id), func(t *testing.T) {
			order, err := ParseOrder(fmt.Sprintf("%d; SKU-%d ;%d;%d", id, id*3, id%9, id*25))
			if err != nil || order.SKU != fmt.Sprintf("SKU-%d", id*3) {
				t.Fatalf("ParseOrder of order %d: %+v, %v", id, order, err)
			}
		})
	}
}

func TestLargest(t *testing.T) {
	orders := []Order{{1, "A", 1, 300}, {2, "B", 4, 100}, {3, "C", 2, 50}}
	if got := Largest(orders); got.ID != 2 {
		t.Errorf("Largest = order %d, want order 2", got.ID)
	}
}
