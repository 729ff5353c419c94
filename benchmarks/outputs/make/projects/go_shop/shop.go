// Package shop computes prices: totals, taxes, shipping.
package shop

import (
	"fmt"
	"strconv"
	"strings"
)

// Order is one line of an order.
type Order struct {
	ID    int
	SKU   string
	Count int
	Cents int
}

// ParseOrder reads "id;sku;count;cents".
func ParseOrder(line string) (Order, error) {
	fields := strings.Split(line, ";")
	if len(fields) != 4 {
		return Order{}, fmt.Errorf("order has %d fields, not 4", len(fields))
	}
	var numbers [3]int
	for place, field := range []string{fields[0], fields[2], fields[3]} {
		number, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil {
			return Order{}, fmt.Errorf("order %q: %w", line, err)
		}
		numbers[place] = number
	}
	return Order{numbers[0], strings.TrimSpace(fields[1]), numbers[1], numbers[2]}, nil
}

// Total is the price of all orders in cents.
func Total(orders []Order) (cents int) {
	for _, order := range orders {
		cents += order.Cents * order.Count
	}
	return cents
}

// Shipping is the price of sending a weight.
func Shipping(grams int) int {
	switch {
	case grams <= 1000:
		return 450
	case grams <= 5000:
		return 790
	case grams <= 20000:
		return 1400
	}
	return 1400 + (grams-20000+9999)/10000*600
}

// Largest is the order that costs most.
func Largest(orders []Order) Order {
	best := orders[0]
	for _, order := range orders {
		if order.Cents*order.Count > best.Cents*best.Count {
			best = order
		}
	}
	return best
}
