ip xfrm state add src 2001:db8::1 dst 2001:db8::2 proto esp spi 0x601 reqid 6 mode transport replay-window 32 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 2001:0db8:0000:0000:0000:0000:0000:0001 dst 2001:0db8:0000:0000:0000:0000:0000:0003 proto esp spi 0x602 reqid 6 mode transport aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 sel src 2001:db8::1/64 dst 2001:db8::/32 proto udp sport 500
ip xfrm state add src fe80::1 dst 0000:0000:0000:0000:0000:ffff:255.255.255.255 proto esp spi 0x603 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src ::1.2.3.4 dst ::1 proto esp spi 0x604 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 2001:0:0:1:0:0:0:1 dst 1:0:0:2:2::3 proto esp spi 0x605 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm policy add dir out src 2001:db8::1 dst 2001:db8::/64 proto ipv6-icmp type 128 tmpl src 2001:db8::1 dst 2001:db8::2 proto esp reqid 6
ip xfrm policy add dir in src ::/0 dst 2001:DB8::1/128 tmpl proto esp reqid 6 mode transport level use
ip -6 xfrm policy add dir fwd proto tcp tmpl proto esp reqid 6
ip -6 xfrm policy add dir fwd src any dst default proto udp
ip xfrm state list nokeys
ip xfrm policy list
ip -s xfrm policy list
ip -4 xfrm policy list
ip -6 xfrm policy list
ip -4 xfrm state list nokeys
ip -6 xfrm state list nokeys
